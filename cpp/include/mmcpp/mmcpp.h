// Everything an embedder needs: FamilyFromSpec once, then Process from any thread.
#pragma once

#include "mmcpp/build_info.h"
#include "mmcpp/cache.h"
#include "mmcpp/driver.h"
#include "mmcpp/family.h"
#include "mmcpp/hash.h"
#include "mmcpp/image.h"
#include "mmcpp/prompt.h"
#include "mmcpp/prompt_update.h"
#include "mmcpp/registry.h"
#include "mmcpp/resize.h"
#include "mmcpp/source.h"
#include "mmcpp/span.h"
#include "mmcpp/status.h"
#include "mmcpp/tensor.h"
#include "mmcpp/version.h"
