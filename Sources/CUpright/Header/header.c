#include "upright.h"
