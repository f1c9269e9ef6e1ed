/* lane_fast.h: included last, it asks the compiler to vectorise the loops that follow. Results
 * do not change: contraction stays off, and no option relaxes IEEE arithmetic. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#elif defined(__GNUC__)
#pragma GCC optimize("O3,no-trapping-math,no-math-errno,fp-contract=off")
#endif

/* A loop over i below n whose iterations are independent: rows are the same or apart. */
#ifndef LANE_LOOP
#if defined(__clang__)
#define LANE_LOOP _Pragma("clang loop vectorize(assume_safety)") for (uint32_t i = 0; i < n; i++)
#else
#define LANE_LOOP _Pragma("GCC ivdep") for (uint32_t i = 0; i < n; i++)
#endif
#endif
