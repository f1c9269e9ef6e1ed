const a = smoothstep(2.0, 1.0, 0.5);
