const_assert countOneBits(7u) == 3;
const_assert countLeadingZeros(1u) == 31;
const_assert countTrailingZeros(8i) == 3;
const_assert reverseBits(1u) == 0x80000000u;
const_assert firstLeadingBit(-1i) == -1;
const_assert firstLeadingBit(8) == 3;
const_assert firstTrailingBit(0u) == 4294967295u;
