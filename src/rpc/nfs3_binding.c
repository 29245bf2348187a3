/* SPDX-License-Identifier: BSD-3-Clause */
#include <rpcrdma/nfs.h>

const struct rpcrdma_binding rpcrdma_nfs3_binding[RPCRDMA_NFS3_PROCEDURES] = {
        [0] = {"NULL", 0, 0, true},      [1] = {"GETATTR", 0, 0, true},
        [2] = {"SETATTR", 0, 0, true},   [3] = {"LOOKUP", 0, 0, true},
        [4] = {"ACCESS", 0, 0, true},    [5] = {"READLINK", 0, 1, true},
        [6] = {"READ", 0, 1, true},      [7] = {"WRITE", 1, 0, true},
        [8] = {"CREATE", 0, 0, false},   [9] = {"MKDIR", 0, 0, false},
        [10] = {"SYMLINK", 1, 0, false}, [11] = {"MKNOD", 0, 0, false},
        [12] = {"REMOVE", 0, 0, false},  [13] = {"RMDIR", 0, 0, false},
        [14] = {"RENAME", 0, 0, false},  [15] = {"LINK", 0, 0, false},
        [16] = {"READDIR", 0, 0, true},  [17] = {"READDIRPLUS", 0, 0, true},
        [18] = {"FSSTAT", 0, 0, true},   [19] = {"FSINFO", 0, 0, true},
        [20] = {"PATHCONF", 0, 0, true}, [21] = {"COMMIT", 0, 0, true},
};

const struct rpcrdma_binding rpcrdma_mount3_binding[RPCRDMA_MOUNT3_PROCEDURES] = {
        [0] = {"NULL", 0, 0, true},    [1] = {"MNT", 0, 0, true},
        [2] = {"DUMP", 0, 0, true},    [3] = {"UMNT", 0, 0, true},
        [4] = {"UMNTALL", 0, 0, true}, [5] = {"EXPORT", 0, 0, true},
};
