#include <libyuv/planar_functions.h>
#include <libyuv/rotate.h>
