/* gate.h: the A/B gate and the findings index, as two commands. Each parses its own arguments, prints, and gives the
 * exit code: 0 ok, 1 a bug, 2 user error, 3 environment. argv[0] is the command's name for messages. */
#ifndef GR_GATE_GATE_H
#define GR_GATE_GATE_H

int gr_gate_main(int argc, char **argv);
int gr_findings_main(int argc, char **argv);

#endif
