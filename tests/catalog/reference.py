"""What NumPy has no one function for."""
import math

import numpy as np


def erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def cast(x, to):
    """Floats truncate toward zero and saturate, integers wrap, truth is being other than zero."""
    to = np.dtype(to)
    if to == np.bool_ or x.dtype.kind != 'f' or to.kind == 'f':
        with np.errstate(all='ignore'):
            return x.astype(to)
    info = np.iinfo(to)
    out = [info.min if v <= info.min else info.max if v >= info.max else int(v) for v in x.astype(np.float64).ravel().tolist()]
    return np.array(out, dtype=to).reshape(x.shape)
