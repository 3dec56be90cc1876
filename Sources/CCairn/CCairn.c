#include "CCairn.h"
