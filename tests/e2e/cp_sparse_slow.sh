#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The same beyond what 32 bits count.
SPARSE_MIB=5120
export SPARSE_MIB
. "$(dirname "$0")/cp_sparse.sh"
