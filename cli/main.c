/* gradus: the command line. */
#include "cli.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate/gate.h"
#include "splat/splat.h"

typedef struct subcommand {
    const char *name, *args, *about, *examples;
    cli_command *run;
} subcommand;

static const subcommand commands[] = {
    {"run", "FILE", "Compile a document, show its plan and verdict, run it, write its outputs and a run record.",
     "  gradus run examples/despike.json\n  gradus run examples/despike.json --device cpu --out out/cpu\n"
     "  gradus run model.graph --in x=x.npy --in w=w.npy --gradient loss --wrt w\n", cli_run},
    {"train", "FILE", "Train a document's parameters as its train block says; show the step's plan first, write curves and parameters.",
     "  gradus train examples/train_digits_mlp.json --device cpu --steps 100\n  gradus train examples/train_digits_mlp.json --resume\n"
     "  gradus run examples/train_digits_mlp.json --parameters out/train_digits_mlp/parameters\n"
     "Ctrl-C stops after the current step and leaves a checkpoint; --resume goes on from it.\n", cli_train},
    {"explain", "FILE", "Print the rungs of a document, one rung, or one node at every rung.",
     "  gradus explain examples/despike.json --rung plan\n  gradus explain examples/despike.json --follow median\n", cli_explain},
    {"plan", "FILE", "Print the plan and verdict; exit code 2 when it is red.", "  gradus plan examples/center.json --budget 256MiB --json\n", cli_plan},
    {"check", "FILE|OPFOLDER...", "Check documents, op folders and .wgsl files without running anything.",
     "  gradus check examples/despike.json examples/ops/user/kemal/windowed_median@1\n", cli_check},
    {"catalog", "[OP]", "List the ops, or show one.", "  gradus catalog\n  gradus catalog matmul --json\n", cli_catalog},
    {"op", "run|new|check|...", "Run an op on files; begin, check, conform, gradcheck, show and publish one.",
     "  gradus op run matmul --in a=a.npy --in b=b.npy --out y=y.npy\n"
     "  gradus op run reduce_sum --set 'axes=[0]' --in x=x.csv --out y=y.npy --device cpu --mode f64\n"
     "  gradus op run mul --in a=a.npy --in b=b.npy --cotangent y=ct.npy --out d_a=d_a.npy\n"
     "  gradus op conform examples/ops/user/kemal/windowed_median@1 --device cpu --out receipt.json\n"
     "  gradus op gradcheck softmax\n"
     "  gradus op new my_sum ops/user/me\n  gradus op check ops/user/me/my_sum@1\n  gradus op conform ops/user/me/my_sum@1 --keep\n"
     "  gradus op show ops/user/me/my_sum@1\n  gradus op publish ops/user/me/my_sum@1 --dry-run\n", cli_op},
    {"receipt", "show|verify ...", "Show a receipt; rerun it for an op and compare.",
     "  gradus receipt show receipt.json\n  gradus receipt verify receipt.json examples/ops/user/kemal/windowed_median@1\n"
     "Exit code 4 of verify: it was minted on another profile; conform again here.\n", cli_receipt},
    {"data", "show|convert ...", "Show what data files hold; convert between .npy, .npz, .safetensors, .wav and .csv.",
     "  gradus data show weights.safetensors\n  gradus data show weights.safetensors#conv1.weight\n"
     "  gradus data convert weights.npz weights.safetensors\n  gradus data convert a=x.npy b=y.csv both.npz --compress\n", cli_data},
    {"import", "MODEL.onnx", "Bring a model into a document and a file of weights.",
     "  gradus import model.onnx --out model.json --set batch=1\n  gradus run model.json --in x=x.npy\n", cli_import},
    {"export", "FOLDER FILE", "Write trained parameters into one .safetensors or .npz.",
     "  gradus export out weights.safetensors\n  gradus export out/checkpoint.safetensors last.npz --last\n", cli_export},
    {"profile", "", "Measure and print the numeric profile of the adapter.", "  gradus profile --json\n", cli_profile},
    {"version", "", "Print the version.", "  gradus version\n", cli_version},
    {"completion", "bash|zsh|fish", "Print a shell completion script.", "  gradus completion bash > /etc/bash_completion.d/gradus\n", cli_completion},
};
enum { COMMANDS_N = sizeof commands / sizeof *commands };

/* Clients with verbs and options of their own. */
static const struct { const char *name, *args, *about; int (*main)(int argc, char **argv); } clients[] = {
    {"gate", "OFF ON", "Measure whether a change is an improvement, pair by pair, and say how sure it is.", gr_gate_main},
    {"findings", "new|check|...", "What was learned: findings as files, checked against their runs, shown as pages.", gr_findings_main},
    {"splat", "VERB ...", "Train 3D Gaussian scenes; read, write and convert what belongs to them.", gr_splat_main},
};
enum { CLIENTS_N = sizeof clients / sizeof *clients };

enum { OPT_JSON = 256, OPT_RUNG, OPT_FOLLOW, OPT_TIER, OPT_DEVICE, OPT_SET, OPT_IN, OPT_MODE, OPT_OPS, OPT_CATALOG, OPT_BUDGET,
       OPT_SEED, OPT_SECOND,
       OPT_THREADS, OPT_HEAVY, OPT_TIMES, OPT_REPEAT, OPT_QUIET, OPT_KEEP,
       OPT_GRADIENT, OPT_COTANGENT, OPT_WRT, OPT_CHECKPOINT, OPT_NO_FUSE, OPT_DRY_RUN, OPT_VISIBILITY, OPT_DOCS, OPT_EXPORT, OPT_COMPRESS, OPT_LAST, OPT_WEIGHTS,
       OPT_STEPS, OPT_RESUME, OPT_PARAMETERS, OPT_TRAIN };

static const struct argp_option options[] = {
    {"json", OPT_JSON, NULL, 0, "Print JSON", 0},
    {"device", OPT_DEVICE, "gpu|cpu|auto", 0, "Where to run (auto: a GPU, else the CPU with a banner)", 0},
    {"tier", OPT_TIER, "debug|prod|fast", 0, "Override the document's determinism tier", 0},
    {"budget", OPT_BUDGET, "SIZE", 0, "Override the GPU memory budget, for example 256MiB", 0},
    {"out", 'o', "DIR | NAME=FILE", 0, "run: folder for outputs (default out/NAME); op run: where an output goes; op conform: the receipt's file; op gradcheck: the JSON's file", 0},
    {"rung", OPT_RUNG, "NAME", 0, "canvas, flow, graph, kernel or plan", 0},
    {"follow", OPT_FOLLOW, "NODE", 0, "Show one node at every rung", 0},
    {"set", OPT_SET, "K=V", 0, "op run: a parameter, value in TOML; import: the size of a named dimension", 0},
    {"gradient", OPT_GRADIENT, "OUTPUT", 0, "Differentiate an output: gradients become outputs d_NAME", 0},
    {"cotangent", OPT_COTANGENT, "OUTPUT=FILE", 0, "The cotangent of an output that is differentiated (op run: ones without it)", 0},
    {"wrt", OPT_WRT, "NAME,...", 0, "Inputs and parameters to differentiate by (all floats without it)", 0},
    {"checkpoint", OPT_CHECKPOINT, "N", 0, "Cut the forward into N segments and compute their inside again in the backward", 0},
    {"no-fuse", OPT_NO_FUSE, NULL, 0, "Every node a kernel of its own: no map fusion", 0},
    {"in", OPT_IN, "NAME=FILE", 0, "An input file; repeat for variadic operands", 0},
    {"mode", OPT_MODE, "f32|f64", 0, "run, op run: f64 evaluates the reference in f64 on the oracle", 0},
    {"ops", OPT_OPS, "DIR", 0, "A further folder of ops", 0},
    {"catalog", OPT_CATALOG, "DIR", 0, "The catalog's folder", 0},
    {"threads", OPT_THREADS, "N", 0, "CPU executor: threads (default all)", 0},
    {"allow-heavy-cpu", OPT_HEAVY, NULL, 0, "Allow work on the CPU that the verdict calls too heavy", 0},
    {"times", OPT_TIMES, NULL, 0, "Print the time of every dispatch", 0},
    {"repeat", OPT_REPEAT, "N", 0, "Run N times (the last result counts); op conform: N cases; op gradcheck: N probes", 0},
    {"seed", OPT_SEED, "N", 0, "op gradcheck: draw other points and directions", 0},
    {"second", OPT_SECOND, NULL, 0, "op gradcheck: check the gradient's own gradient", 0},
    {"keep", OPT_KEEP, NULL, 0, "op conform: write the receipt to the folder receipts/ of the op", 0},
    {"export", OPT_EXPORT, "DIR", 0, "op conform: write cases, expected values and bounds as plain files", 0},
    {"dry-run", OPT_DRY_RUN, NULL, 0, "op publish: check and list what would be sent, and send nothing", 0},
    {"visibility", OPT_VISIBILITY, "shared|public", 0, "op publish: who is to see it (default public)", 0},
    {"docs", OPT_DOCS, "DIR", 0, "catalog: write a page of Markdown for every op", 0},
    {"last", OPT_LAST, NULL, 0, "export: the last parameters, not the best ones by evaluation", 0},
    {"compress", OPT_COMPRESS, NULL, 0, "data convert: compress a .npz", 0},
    {"steps", OPT_STEPS, "N", 0, "train: end after N steps in all, whatever the document says", 0},
    {"resume", OPT_RESUME, NULL, 0, "train: go on from the checkpoint in the output folder", 0},
    {"parameters", OPT_PARAMETERS, "DIR", 0, "run, train: a folder with NAME.npy for every parameter, such as train wrote", 0},
    {"train", OPT_TRAIN, NULL, 0, "explain, plan: the training step, with backward and update, instead of the workflow", 0},
    {"weights", OPT_WEIGHTS, "FILE", 0, "import: the file of weights (default: as the document, .safetensors)", 0},
    {"quiet", 'q', NULL, 0, "Print results and complaints only", 0},
    {0}};

static void push(const char **list, unsigned *n, const char *v, struct argp_state *state) {
    if (*n + 1 < CLI_LIST_MAX) list[(*n)++] = v;
    else exit(cli_usage(state->input, "more than %d values", CLI_LIST_MAX - 1));
}

static unsigned number(const char *arg, struct argp_state *state) {
    char *end;
    unsigned long v = strtoul(arg, &end, 10);
    if (*end || end == arg || v > 1000000) exit(cli_usage(state->input, "\"%s\" is not a number from 0 to 1000000", arg));
    return (unsigned)v;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    cli_options *o = state->input;
    switch (key) {
    case OPT_JSON: o->json = true; break;
    case OPT_DEVICE: o->device = arg; break;
    case OPT_TIER: o->tier = arg; break;
    case OPT_BUDGET: o->budget = arg; break;
    case 'o':
        o->out = arg;
        push(o->outs, &o->outs_n, arg, state);
        break;
    case OPT_RUNG: o->rung = arg; break;
    case OPT_FOLLOW: o->follow = arg; break;
    case OPT_SET: push(o->set, &o->set_n, arg, state); break;
    case OPT_IN: push(o->in, &o->in_n, arg, state); break;
    case OPT_GRADIENT: push(o->gradient, &o->gradient_n, arg, state); break;
    case OPT_COTANGENT: push(o->cotangent, &o->cotangent_n, arg, state); break;
    case OPT_WRT: push(o->wrt, &o->wrt_n, arg, state); break;
    case OPT_CHECKPOINT: o->checkpoint = number(arg, state); break;
    case OPT_NO_FUSE: o->no_fuse = true; break;
    case OPT_MODE: o->mode = arg; break;
    case OPT_OPS: push(o->ops, &o->ops_n, arg, state); break;
    case OPT_CATALOG: o->catalog = arg; break;
    case OPT_THREADS: o->threads = number(arg, state); break;
    case OPT_HEAVY: o->allow_heavy = true; break;
    case OPT_TIMES: o->timestamps = true; break;
    case OPT_REPEAT: o->repeat = number(arg, state); break;
    case OPT_SEED: o->seed = number(arg, state); break;
    case OPT_SECOND: o->second = true; break;
    case OPT_KEEP: o->keep = true; break;
    case OPT_DRY_RUN: o->dry_run = true; break;
    case OPT_VISIBILITY: o->visibility = arg; break;
    case OPT_DOCS: o->docs = arg; break;
    case OPT_EXPORT: o->export_dir = arg; break;
    case OPT_WEIGHTS: o->weights = arg; break;
    case OPT_LAST: o->last = true; break;
    case OPT_COMPRESS: o->compress = true; break;
    case OPT_STEPS: o->steps = number(arg, state); break;
    case OPT_RESUME: o->resume = true; break;
    case OPT_PARAMETERS: o->parameters = arg; break;
    case OPT_TRAIN: o->train = true; break;
    case 'q': o->quiet = true; break;
    case ARGP_KEY_ARG: push(o->arg, &o->arg_n, arg, state); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void overview(FILE *f) {
    fprintf(f, "usage: gradus COMMAND [OPTION...]\n\nGradus lowers a drawn workflow rung by rung to WGSL and runs it on WebGPU or the CPU oracle.\n\n");
    for (int i = 0; i < COMMANDS_N; i++) fprintf(f, "  %-10s %-18s %s\n", commands[i].name, commands[i].args, commands[i].about);
    for (int i = 0; i < CLIENTS_N; i++) fprintf(f, "  %-10s %-18s %s\n", clients[i].name, clients[i].args, clients[i].about);
    fprintf(f, "\n`gradus COMMAND --help` shows options and examples.\n"
               "Exit codes: 0 ok, 1 a bug of Gradus, 2 user error, 3 environment (no adapter, no memory, no space),\n"
               "4 of `receipt verify`: conform again here.\n");
}

static const subcommand *find(const char *name) {
    for (int i = 0; i < COMMANDS_N; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

/* What argp and getopt complain of is text on stderr; with --json it is caught and told as a diagnostic. */
static bool parse_options(const struct argp *argp, int argc, char **argv, cli_options *o) {
    char text[512] = "the options cannot be read", *end;
    FILE *caught = o->json ? tmpfile() : NULL;
    int saved = caught ? dup(2) : -1;
    if (saved < 0) return argp_parse(argp, argc, argv, 0, NULL, o) == 0;
    fflush(stderr);
    dup2(fileno(caught), 2);
    bool ok = argp_parse(argp, argc, argv, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, o) == 0;
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    rewind(caught);
    if (!ok && fgets(text, sizeof text, caught) && (end = strchr(text, '\n'))) *end = 0;
    if (!ok) cli_usage(o, "%s", text);
    fclose(caught);
    return ok;
}

int main(int argc, char **argv) {
    static cli_options o; /* zero; large, hence not on the stack */
    for (int i = 1; i < argc; i++) o.json = o.json || !strcmp(argv[i], "--json");
    if (argc < 2) {
        overview(stderr);
        return 2;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        overview(stdout);
        return 0;
    }
    for (int i = 0; i < CLIENTS_N; i++)
        if (!strcmp(argv[1], clients[i].name)) return clients[i].main(argc - 1, argv + 1);
    const subcommand *c = find(strcmp(argv[1], "--version") ? argv[1] : "version");
    if (!c) return cli_usage(&o, "unknown command \"%s\"; `gradus --help` lists them", argv[1]);
    char name[64], doc[1024];
    snprintf(name, sizeof name, "gradus %s", c->name);
    snprintf(doc, sizeof doc, "%s\vExamples:\n%s", c->about, c->examples);
    const struct argp argp = {options, parse, c->args, doc, NULL, NULL, NULL};
    argv[1] = name;
    argp_err_exit_status = 2;
    for (int i = 2; i < argc; i++)
        if (!strcmp(argv[i], "--help")) o.json = false;
    return parse_options(&argp, argc - 1, argv + 1, &o) ? c->run(&o) : 2;
}
