#!/usr/bin/env python3
"""embed.py OUT FILE...: a C header with each file as a string, named embedded_NAME_EXT."""
import os
import sys

with open(sys.argv[1], 'w', encoding='utf-8') as out:
    for path in sys.argv[2:]:
        name = os.path.basename(path).replace('.', '_')
        out.write('static const char embedded_%s[] =\n' % name)
        for line in open(path, encoding='utf-8'):
            text = line.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n')
            out.write('    "%s"\n' % text)
        out.write('    "";\n')
