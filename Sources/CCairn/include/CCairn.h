#ifndef CCAIRN_H
#define CCAIRN_H

#include <stddef.h>
#include <stdint.h>

#endif
