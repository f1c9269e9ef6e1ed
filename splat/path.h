/* path.h: cameras along a path, for rendering. */
#ifndef GR_SPLAT_PATH_H
#define GR_SPLAT_PATH_H

#include "splat/camera.h"
#include "splat/io/cloud.h"

typedef struct gr_frame { gr_camera camera; gr_pose pose; } gr_frame;
typedef struct gr_frames { GR_VEC(gr_frame) list; } gr_frames;

enum { GR_FRAMES_MAX = 100000 };

/* A camera path as nerfstudio's viewer exports it (camera_path with camera_to_world and a vertical fov in degrees, render_width, render_height),
 * or the frames of a transforms.json (transform_matrix; camera_angle_x, or fl_x with fl_y, cx, cy). width, height: of the pictures; 0: as the
 * file says. splat/camera-path names the frame. */
bool gr_path_read(gr_arena *a, gr_diags *d, gr_str name, gr_str text, uint32_t width, uint32_t height, gr_frames *out);

typedef struct gr_orbit {
    uint32_t frames, width, height;
    double fov;       /* vertical, degrees */
    double elevation; /* degrees above the plane that `up` is normal to */
    double distance;  /* from the middle; 0: 3 times the median distance of a splat from it */
    double up[3];
} gr_orbit;
/* Once around the median of the splats' positions, looking at it. */
bool gr_path_orbit(gr_arena *a, gr_diags *d, const gr_cloud *c, const gr_orbit *o, gr_frames *out);

#endif
