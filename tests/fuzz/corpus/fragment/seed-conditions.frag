%a = mul %x %scale if given(scale)
%a = identity %x if not given(scale)
%c = constant 2 : T[] if if(k > 1, true, false)
