/* exec.h: a device as a target of kernels and plans. The executor itself is gr_webgpu_api of run.h,
 * whose `device` is a gr_gpu. */
#ifndef GR_RUN_WEBGPU_EXEC_H
#define GR_RUN_WEBGPU_EXEC_H

#include "ladder/kernel/kernel.h"
#include "ladder/run/webgpu/device.h"

/* Limits and features as found; the adapter's name is a view of the device's. subgroup_size is 0 where
 * the size varies. */
gr_target gr_webgpu_target(const gr_gpu *g);

#endif
