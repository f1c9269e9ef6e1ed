/* camera.h: cameras, their distortion, and pictures without it.
 *
 * World-to-camera: p_camera = R p_world + t with x right, y down, z forward. A pixel's centre is at (column + 0.5, row + 0.5), as in
 * COLMAP. Training sees pinhole cameras alone: distorted pictures are resampled when they are loaded (gr_camera_undistort). */
#ifndef GR_SPLAT_CAMERA_H
#define GR_SPLAT_CAMERA_H

#include "splat/image.h"

typedef enum gr_camera_model { /* the numbers are COLMAP's */
    GR_CAMERA_SIMPLE_PINHOLE = 0, GR_CAMERA_PINHOLE, GR_CAMERA_SIMPLE_RADIAL, GR_CAMERA_RADIAL, GR_CAMERA_OPENCV, GR_CAMERA_OPENCV_FISHEYE,
    GR_CAMERA_MODELS,
} gr_camera_model;

const char *gr_camera_model_name(gr_camera_model m);
gr_camera_model gr_camera_model_find(gr_str name); /* GR_CAMERA_MODELS when unknown */
uint32_t gr_camera_model_params(gr_camera_model m);

typedef struct gr_camera {
    uint32_t width, height;
    double fx, fy, cx, cy; /* pixels */
    double k[4];           /* radial: k1 k2 of r^2, r^4; fisheye: k1..k4 of theta^2.. */
    double p[2];           /* tangential, OPENCV alone */
    bool fisheye;
} gr_camera;

/* From a model's parameters, gr_camera_model_params(m) of them. splat/camera for what is no camera: focal lengths that are not
 * positive, sides of 0, values that are not finite. `who` names it: "camera 3". */
bool gr_camera_make(gr_diags *d, gr_str document, const char *who, gr_camera_model m, uint32_t width, uint32_t height, const double *params, gr_camera *out);
bool gr_camera_distorted(const gr_camera *c);
/* The same camera for a picture of another size. */
gr_camera gr_camera_resize(const gr_camera *c, uint32_t width, uint32_t height);
/* The pinhole camera with the same focal lengths, centre and size. */
gr_camera gr_camera_pinhole(const gr_camera *c);
/* Where the ray (x, y, 1) of the pinhole lands in the distorted picture, in normalised coordinates. False where the model has folded over,
 * that is, where a ray further out lands further in. */
bool gr_camera_distort(const gr_camera *c, double x, double y, double *u, double *v);
/* Resamples m, which `c` took, to gr_camera_pinhole(c), bilinearly. *mask (1 channel) is 0 where the camera saw nothing, else 255. */
bool gr_camera_undistort(gr_diags *d, gr_str name, const gr_camera *c, const gr_image *m, gr_image *out, gr_image *mask);

typedef struct gr_pose {
    double r[9]; /* rotation, by rows */
    double t[3];
} gr_pose;

/* From a quaternion w x y z of any length but 0. */
bool gr_pose_from_quaternion(const double q[4], const double t[3], gr_pose *out);
/* From camera-to-world as OpenGL has it (x right, y up, z back), 4 x 4 by rows: columns 1 and 2 change their sign, then the inverse. A uniform
 * scale of the rotation is taken out. False when it is no such matrix. */
bool gr_pose_from_opengl(const double m[16], gr_pose *out);
void gr_pose_centre(const gr_pose *p, double out[3]); /* of the camera in the world: -R^T t */

#endif
