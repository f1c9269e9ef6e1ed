"""despike's median beside scipy.signal.medfilt on the same record, where SciPy is there."""
import json, os, pathlib, statistics, subprocess, sys, time

try:
    import numpy as np
    from scipy.signal import medfilt
except ImportError:
    system = "/usr/bin/python3" # python3-scipy is for the system's Python, whichever one came first on PATH
    if os.path.realpath(sys.executable) != os.path.realpath(system) and os.path.exists(system):
        os.execv(system, [system] + sys.argv)
    print("skipped: python3-scipy is not installed")
    sys.exit(0)

root = pathlib.Path(__file__).resolve().parents[2]
gradus = sys.argv[1] if len(sys.argv) > 1 else str(root / "build/cli/gradus")
x = np.load(root / "examples/data/ecg208.npy")
reps = 20
medfilt(x, 7)
t = []
for _ in range(reps):
    start = time.perf_counter()
    y = medfilt(x, 7)
    t.append(time.perf_counter() - start)
scipy_s = statistics.median(t)

out = root / "out/bench-median.npy"
out.parent.mkdir(exist_ok=True)
for device in ("cpu", "gpu"):
    run = subprocess.run([gradus, "op", "run", "user/kemal/windowed_median@1", "--ops", str(root / "examples/ops"), "--set", "w=7", "--in",
                          f"x={root}/examples/data/ecg208.npy", "--out", f"y={out}", "--device", device, "--json", "--times", "--repeat", "20"],
                         capture_output=True, text=True, cwd=root)
    if run.returncode != 0:
        print(f"  {device}: skipped ({run.stdout.strip()[:200]})")
        continue
    got = np.load(out)
    same = np.array_equal(got.view(np.uint32), y[3:-3].astype(np.float32).view(np.uint32))
    seconds = json.loads(run.stdout)["seconds"]
    print(f"  gradus {device} / scipy.signal.medfilt, 108,000 samples, w = 7: {seconds / scipy_s:8.3f}   results {'equal bit for bit' if same else 'DIFFER'}")
