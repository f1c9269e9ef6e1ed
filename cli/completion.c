/* gradus completion: scripts for the common shells. */
#include "cli.h"

#include <string.h>

static const char words[] = "run train explain plan check catalog op data import export receipt profile gate findings splat version completion";
static const char opts[] = "--json --device --tier --budget --out --rung --follow --set --in --mode --ops --catalog --threads "
                           "--seed --second "
                           "--name --off --on --runner --flag --sequential --detach --resume "
                           "--gradient --cotangent --wrt --checkpoint --no-fuse --steps --parameters --train --allow-heavy-cpu --times --repeat --keep --compress --last --weights --quiet --help";

static void bash(void) {
    printf("_gradus() {\n"
           "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
           "  case $prev in\n"
           "    --device) COMPREPLY=($(compgen -W 'gpu cpu auto' -- \"$cur\")); return;;\n"
           "    --tier) COMPREPLY=($(compgen -W 'debug prod fast' -- \"$cur\")); return;;\n"
           "    --rung) COMPREPLY=($(compgen -W 'canvas flow graph kernel plan' -- \"$cur\")); return;;\n"
           "    --mode) COMPREPLY=($(compgen -W 'f32 f64' -- \"$cur\")); return;;\n"
           "  esac\n"
           "  if [ \"$COMP_CWORD\" = 1 ]; then COMPREPLY=($(compgen -W '%s' -- \"$cur\"))\n"
           "  elif [ \"$COMP_CWORD\" = 2 ] && [ \"$prev\" = op ]; then COMPREPLY=($(compgen -W run -- \"$cur\"))\n"
           "  elif [ \"$COMP_CWORD\" = 2 ] && [ \"$prev\" = splat ]; then COMPREPLY=($(compgen -W \"$(gradus splat --help 2>/dev/null | sed -n 's/^  \\([a-z]*\\) .*/\\1/p')\" -- \"$cur\"))\n"
           "  elif [ \"$COMP_CWORD\" = 2 ] && [ \"$prev\" = completion ]; then COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$cur\"))\n"
           "  elif [ \"$COMP_CWORD\" = 2 ] && [ \"$prev\" = catalog ]; then COMPREPLY=($(compgen -W \"$(gradus catalog 2>/dev/null)\" -- \"$cur\"))\n"
           "  elif [ \"${cur#-}\" != \"$cur\" ]; then COMPREPLY=($(compgen -W '%s' -- \"$cur\"))\n"
           "  else COMPREPLY=($(compgen -f -- \"$cur\")); fi\n"
           "}\ncomplete -o filenames -F _gradus gradus\n", words, opts);
}

static void zsh(void) {
    printf("#compdef gradus\n_gradus() {\n"
           "  if (( CURRENT == 2 )); then compadd %s\n"
           "  elif [[ $words[CURRENT] == -* ]]; then compadd -- %s\n"
           "  else _files; fi\n}\n_gradus \"$@\"\n", words, opts);
}

static void fish(void) {
    printf("complete -c gradus -n __fish_use_subcommand -f -a '%s'\n", words);
    char copy[sizeof opts];
    memcpy(copy, opts, sizeof opts);
    for (char *w = strtok(copy, " "); w; w = strtok(NULL, " ")) printf("complete -c gradus -l %s\n", w + 2);
}

int cli_completion(const cli_options *o) {
    if (o->arg_n != 1) return cli_usage(o, "completion takes bash, zsh or fish");
    if (!strcmp(o->arg[0], "bash")) bash();
    else if (!strcmp(o->arg[0], "zsh")) zsh();
    else if (!strcmp(o->arg[0], "fish")) fish();
    else return cli_usage(o, "completion takes bash, zsh or fish, not \"%s\"", o->arg[0]);
    return 0;
}
