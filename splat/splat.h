/* splat.h: the trainer of 3D Gaussian scenes, as the command line calls it.
 *
 * A client of gradus.h that stands on base/ and array/ too. README.md has its parts and invariants. */
#ifndef GR_SPLAT_SPLAT_H
#define GR_SPLAT_SPLAT_H

/* `gradus splat ...`: argv[0] is "splat", argv[1] the verb. Prints to stdout and stderr. The exit code: 0 ok, 1 a bug of ours,
 * 2 user error, 3 environment. */
int gr_splat_main(int argc, char **argv);

#endif
