#include <srt/access_control.h>
#include <srt/srt.h>
