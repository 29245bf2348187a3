/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LOOKUP, and the procedures that change directories: CREATE MKDIR SYMLINK
 * MKNOD REMOVE RMDIR RENAME LINK.               [RFC 1813 §3.3.3, 8-15]
 *
 * A name is one component, relative to the directory's descriptor.  Symbolic links are
 * never followed, and ".." in an export's root is the root itself, so no name leads out
 * of an export.  The kernel checks permissions, because the thread runs with the
 * caller's identity.  Unless --async is given, a change is on storage before the reply:
 * first the new object, then its directory.
 */
#include "op.h"
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <linux/openat2.h>

enum { MOST_LEVELS = 4096 + 256 }; /* levels; `rpcrdma cp -r` makes at most 4096 */

/* Finds the directory in the arguments, and checks the name.  Returns 0 or a
 * negative errno. */
static int get_directory(struct op *op, const diropargs3 *a, struct object **ret)
{
	int e = op_object(op, &a->dir, ret);

	if (!e && !S_ISDIR((*ret)->type))
		e = -ENOTDIR;
	return e ? e : name_check(a->name);
}

/* Locks the directory op->obj and, unless @wcc2 is NULL, the directory op->obj2, and
 * reads their attributes before the change.  @e is the result of finding the
 * directories; if @e is not 0, returns @e at once.  Returns 0 or a negative errno. */
static int begin_change(struct op *op, int e, wcc_data *wcc, wcc_data *wcc2)
{
	struct statx st;

	if (!e)
		e = wcc_lock(op, op->obj, wcc2 ? op->obj2 : NULL);
	if (!e)
		e = object_stat(op->obj, &st);
	if (!e)
		wcc_before(op->obj, &st, &wcc->before);
	if (!e && wcc2 && op->obj2 != op->obj)
		e = object_stat(op->obj2, &st);
	if (!e && wcc2)
		wcc_before(op->obj2, &st, &wcc2->before);
	if (!e &&
	    (op->may.read_only || op->obj->covered || (wcc2 && op->obj2->covered)))
		e = -EROFS;
	return e;
}

static int get_dir_to_change(struct op *op, const diropargs3 *a, wcc_data *wcc)
{
	return begin_change(op, get_directory(op, a, &op->obj), wcc, NULL);
}

/* -- LOOKUP ---------------------------------------------------------------- */

static bool is_export_root(const struct object *o)
{
	return o->ino == o->ex->root_ino;
}

/* Returns true if the directory @fd is the export's root or still below the root.  The
 * thread must be running with the server's own identity. */
static bool is_beneath(const struct export *ex, int fd)
{
	return handle_climb(ex, fd, NULL, MOST_LEVELS) >= 0;
}

/* Makes the handle of the directory @fd, which contains the mount point op->obj.
 * Returns 0 or a negative errno. */
static int make_upper_handle(struct op *op, int fd, struct handle *h, struct statx *st)
{
	struct object *dir = op->obj;
	uint64_t id;
	int e = dir->covered ? 0 : mount_id_of(fd, &id);

	if (e)
		return e;
	if (!dir->covered) {
		op->cross = crossing_of_mount(op->nfsd, dir->ex, id);
		if (!op->cross)
			return -ESTALE;
		e = crossing_open(op->nfsd, op->cross);
	}
	if (!e && !is_beneath(op->cross ? op->cross : dir->ex, fd))
		e = -ESTALE;
	return e ? e
	         : handle_make_climbing(op->nfsd, op->cross ? op->cross : dir->ex, fd,
	                                h, st);
}

static int lookup_upper(struct op *op, struct handle *h, struct statx *st)
{
	struct object *dir = op->obj;
	int fd, e = object_permit(dir, &op->id, X_OK, false);

	if (e || ident_enter_server())
		return e ? e : -EIO;
	fd = openat(dir->path_fd, dir->covered ? "." : "..",
	            O_PATH | O_DIRECTORY | O_CLOEXEC);
	e = fd < 0 ? -errno : make_upper_handle(op, fd, h, st);
	if (fd >= 0)
		close(fd);
	return ident_enter(&op->id) ? -EIO : e;
}

static int lookup_parent(struct op *op, struct handle *h, struct statx *st)
{
	struct object *dir = op->obj;
	int fd, e;

	if (is_export_root(dir) && !dir->ex->top)
		return handle_make(op->nfsd, dir->ex, NULL, dir->path_fd, h, st);
	if (op->cache_only || (op->no_wait && is_export_root(dir)))
		return op_would_sleep(op);
	if (is_export_root(dir) || dir->covered)
		return lookup_upper(op, h, st);
	fd = openat(dir->path_fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	e = ident_enter_server() ? -EIO : 0;
	if (!e && !is_beneath(dir->ex, fd))
		e = -ESTALE;
	if (!e)
		e = handle_make_parent(op->nfsd, dir->ex, &dir->fh, fd, h, st);
	if (ident_enter(&op->id))
		e = -EIO;
	close(fd);
	return e;
}

/* Looks up "." in the directory.  The caller needs search permission for the
 * directory. */
static int lookup_self(struct op *op, struct handle *h, struct statx *st)
{
	struct object *dir = op->obj;
	int e = op->cache_only ? op_would_sleep(op)
	                       : object_permit(dir, &op->id, X_OK, false);

	if (!e)
		e = object_stat(dir, st);
	if (!e)
		*h = dir->fh;
	return e;
}

/* Opens @name without sleeping, if the kernel has cached it.  Returns a descriptor,
 * a negative errno, or NFSD_WOULD_SLEEP if the name is not cached. */
static int open_cached(int dir, const char *name, uint64_t flags)
{
	struct open_how how = {.flags = flags,
	                       .resolve = RESOLVE_CACHED | RESOLVE_NO_XDEV};
	long fd = syscall(SYS_openat2, dir, name, &how, sizeof(how));

	if (fd >= 0)
		return (int)fd;
	return errno == ENOENT || errno == EACCES ? -errno : NFSD_WOULD_SLEEP;
}

static int open_child(struct op *op, int dir, const char *name)
{
	const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	int fd = op->cache_only ? open_cached(dir, name, flags)
	                        : open_name(dir, name, flags, 0);

	return fd == NFSD_WOULD_SLEEP && op->cache_only ? op_would_sleep(op) : fd;
}

/* Finds the object @name in the directory op->obj, and stores it in op->obj2.  Uses a
 * single descriptor, so that handle and attributes describe the same object.  Returns
 * 0, -EXDEV if @name is a mount point, or another negative errno. */
static int get_child(struct op *op, const char *name, struct statx *st)
{
	struct object *dir = op->obj;
	int fd = open_child(op, dir->path_fd, name), e;
	struct handle h;

	if (objects_make_room(op->nfsd, dir->path_fd, fd, dir->ex->fs))
		fd = open_child(op, dir->path_fd, name);
	if (fd < 0) {
		e = fd;
		/* ENOENT may mean that the directory itself has been removed. */
		return e == -ENOENT && object_stat(dir, st) == -ESTALE ? -ESTALE : e;
	}
	e = handle_make(op->nfsd, dir->ex, &dir->fh, fd, &h, st);
	if (e) {
		close(fd);
		return e;
	}
	walk_learn(dir->ex, st->stx_ino, dir->ino, name);
	return object_adopt(op->nfsd, dir->ex, &h, fd, st, &op->obj2);
}

/* Works like get_child for an entry that was just created or that already existed.
 * Returns -EEXIST for a mount point. */
static int get_made(struct op *op, const char *name, struct statx *st)
{
	int e = get_child(op, name, st);

	return e == -EXDEV ? -EEXIST : e;
}

/* Opens the root of the mounted file system op->cross.  Runs in a worker of that file
 * system.  If the file system has been unmounted in the meantime, the client has to
 * send the request again. */
static int lookup_root(struct op *op, struct handle *h, struct statx *st)
{
	struct export *ex = op->cross;
	int e;

	if (op->cache_only)
		return op_would_sleep(op);
	if (ident_enter_server())
		return -EIO;
	e = crossing_open(op->nfsd, ex);
	if (!e)
		e = handle_make(op->nfsd, ex, NULL, ex->root_fd, h, st);
	if (ident_enter(&op->id))
		return -EIO;
	return e == -ESTALE ? -EAGAIN : e;
}

/* Finds the root of the file system that is mounted at @name, or the empty directory
 * that clients see instead. */
static int lookup_mounted(struct op *op, const char *name, struct handle *h,
                          struct statx *st)
{
	struct object *dir = op->obj;
	struct mounted m;
	int e = crossing_at(op->nfsd, dir->ex, dir->path_fd, name, st, &m);

	if (e)
		return e;
	op->cross = m.ex;
	return m.ex ? op_would_sleep(op)
	            : covered_make(op->nfsd, dir, name, &m, &op->id, h, st);
}

static int lookup_child(struct op *op, const char *name, struct handle *h,
                        struct statx *st)
{
	int e;

	if (op->obj->covered)
		return -ENOENT;
	if (op->cross)
		return lookup_root(op, h, st);
	*st = (struct statx){.stx_mask = 0}; /* in case the name cannot be opened */
	e = get_child(op, name, st);
	if (e == -EXDEV)
		return lookup_mounted(op, name, h, st);
	if (!e)
		*h = op->obj2->fh;
	return e;
}

static void set_result_handle(struct op *op, nfs_fh3 *fh)
{
	fh->data.data_val = (char *)op->made.octets;
	fh->data.data_len = op->made.len;
}

void op_lookup(struct op *op)
{
	const char *name = op->args.lookup.what.name;
	LOOKUP3resok *ok = &op->res.lookup.LOOKUP3res_u.resok;
	post_op_attr dir = {.attributes_follow = FALSE};
	struct statx st;
	int e = get_directory(op, &op->args.lookup.what, &op->obj);

	/* Read the attributes before the name.  Attributes that are too old only make
	 * the client ask again; attributes newer than the answer would make the client
	 * keep an outdated answer. */
	attr_post(op->obj, &dir);
	if (e)
		;
	else if (!strcmp(name, ".."))
		e = lookup_parent(op, &op->made, &st);
	else if (!strcmp(name, "."))
		e = lookup_self(op, &op->made, &st);
	else
		e = lookup_child(op, name, &op->made, &st);
	op->res.status = nfs_status(e);
	if (e) {
		op->res.lookup.LOOKUP3res_u.resfail.dir_attributes = dir;
		return;
	}
	set_result_handle(op, &ok->object);
	attr_post_statx(op->cross ? op->cross : op->obj->ex, &st, &ok->obj_attributes);
	ok->dir_attributes = dir;
}

/* -- creating -------------------------------------------------------------- */

/* Fills in the results of CREATE, MKDIR, SYMLINK and MKNOD. */
static void finish_create(struct op *op, int e, struct object *made, wcc_data *wcc)
{
	CREATE3resok *ok = &op->res.create.CREATE3res_u.resok;

	op->res.status = nfs_status(e);
	attr_post(op->obj, &wcc->after);
	if (e) {
		op->res.create.CREATE3res_u.resfail.dir_wcc = *wcc;
		return;
	}
	ok->dir_wcc = *wcc;
	if (made) {
		op->made = made->fh;
		ok->obj.handle_follows = TRUE;
		set_result_handle(op, &ok->obj.post_op_fh3_u.handle);
		attr_post(made, &ok->obj_attributes);
		/* A symbolic link or a device has no descriptor for fsync; its initial
		 * attributes reach storage together with its name. */
		if (S_ISREG(made->type) || S_ISDIR(made->type) || op->set_after)
			op_sync_change(op, made);
	}
	op_sync_change(op, op->obj);
}

/* Sets the initial attributes that were not already set on creation.  Like other
 * servers, reports no error if the user is not allowed to change the owner: the user
 * then remains the owner. */
static int set_initial_attributes(struct op *op, const sattr3 *attributes,
                                  bool mode_is_set)
{
	sattr3 a = *attributes;
	int e;

	if (mode_is_set)
		a.mode.set_it = FALSE;
	op->set_after = a.mode.set_it || a.uid.set_it || a.gid.set_it ||
	                a.atime.set_it != DONT_CHANGE || a.mtime.set_it != DONT_CHANGE;
	if (a.uid.set_it || a.gid.set_it) {
		sattr3 owner = {.uid = a.uid, .gid = a.gid};

		e = attr_set(op->nfsd, op->obj2, &op->id, &owner);
		if (e && e != -EPERM)
			return e;
		a.uid.set_it = a.gid.set_it = FALSE;
		a.mode = attributes->mode; /* the chown cleared the set-ID bits */
	}
	return attr_set(op->nfsd, op->obj2, &op->id, &a);
}

static mode_t choose_mode(const sattr3 *a, mode_t otherwise)
{
	return a->mode.set_it ? a->mode.set_mode3_u.mode & 07777 : otherwise;
}

/* Creates a file, and keeps the descriptor for later WRITEs. */
static int create_new(struct op *op, const char *name, mode_t mode)
{
	int fd = open_name(op->obj->path_fd, name,
	                   O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, mode);
	struct stat file;
	struct statx st;
	int e;

	if (fd < 0)
		return fd == -EXDEV ? -EEXIST : fd;
	e = get_made(op, name, &st);
	/* Another file may have replaced the new file in the meantime. */
	if (!e && !fstat(fd, &file) && file.st_ino == op->obj2->ino)
		object_keep_write_fd(op->obj2, fd);
	else
		close(fd);
	return e;
}

/* Encodes an exclusive CREATE's verifier as times, which are stored as the file's
 * times. */
static void make_verf_times(const uint8_t *v, struct timespec ts[2])
{
	uint32_t a, m;

	memcpy(&a, v, 4);
	memcpy(&m, v + 4, 4);
	ts[0] = (struct timespec){.tv_sec = a & 0x7fffffff};
	ts[1] = (struct timespec){.tv_sec = m & 0x7fffffff};
}

/* Returns 0 if the existing file op->obj2 was made by an earlier transmission of this
 * request, -EEXIST if it was not, or another negative errno. */
static int check_same_exclusive(struct op *op, const struct timespec ts[2])
{
	struct statx st;
	int e = object_stat(op->obj2, &st);

	if (e)
		return e;
	if (S_ISREG(st.stx_mode) && st.stx_size == 0 &&
	    st.stx_atime.tv_sec == ts[0].tv_sec &&
	    st.stx_mtime.tv_sec == ts[1].tv_sec && !st.stx_mtime.tv_nsec)
		return 0;
	return -EEXIST;
}

static int create_exclusive(struct op *op, const char *name, const char *verf)
{
	struct timespec ts[2];
	struct statx st;
	int e = create_new(op, name, 0600);

	make_verf_times((const uint8_t *)verf, ts);
	if (e == -EEXIST) {
		e = get_made(op, name, &st);
		return e ? e : check_same_exclusive(op, ts);
	}
	if (!e && utimensat(op->obj2->path_fd, "", ts, AT_EMPTY_PATH))
		e = -errno;
	return e;
}

static int create_file(struct op *op, const char *name, const createhow3 *how)
{
	const sattr3 *a = &how->createhow3_u.obj_attributes;
	sattr3 size = {.size = a->size};
	struct statx st;
	int e = attr_check(a);

	if (!e)
		e = create_new(op, name, choose_mode(a, 0644));
	if (!e)
		return set_initial_attributes(op, a, true);
	if (e != -EEXIST || how->mode == GUARDED)
		return e;
	e = get_made(op, name, &st);
	if (!e && !S_ISREG(op->obj2->type))
		e = -EEXIST;
	if (!e)
		e = wcc_lock(op, op->obj2, NULL);
	return e ? e : attr_set(op->nfsd, op->obj2, &op->id, &size);
}

void op_create(struct op *op)
{
	const CREATE3args *a = &op->args.create;
	wcc_data wcc = {.before = {.attributes_follow = FALSE}};
	int e = get_dir_to_change(op, &a->where, &wcc);

	if (!e && name_is_dot(a->where.name))
		e = -EEXIST;
	if (!e && a->how.mode == EXCLUSIVE)
		e = create_exclusive(op, a->where.name, a->how.createhow3_u.verf);
	else if (!e)
		e = create_file(op, a->where.name, &a->how);
	finish_create(op, e, op->obj2, &wcc);
}

void op_mkdir(struct op *op)
{
	const MKDIR3args *a = &op->args.mkdir;
	wcc_data wcc = {.before = {.attributes_follow = FALSE}};
	mode_t mode = choose_mode(&a->attributes, 0755);
	struct statx st;
	int e = get_dir_to_change(op, &a->where, &wcc);

	if (!e && name_is_dot(a->where.name))
		e = -EEXIST;
	if (!e)
		e = a->attributes.size.set_it ? -EINVAL : attr_check(&a->attributes);
	if (!e && mkdirat(op->obj->path_fd, a->where.name, mode & 01777))
		e = -errno;
	if (!e)
		e = get_made(op, a->where.name, &st);
	/* If the client requests no set-ID bits, do not set the mode again: that would
	 * clear a set-group-ID bit inherited from the parent directory. */
	if (!e)
		e = set_initial_attributes(op, &a->attributes, !(mode & 06000));
	finish_create(op, e, op->obj2, &wcc);
}

void op_symlink(struct op *op)
{
	const SYMLINK3args *a = &op->args.symlink;
	const sattr3 *attributes = &a->symlink.symlink_attributes;
	wcc_data wcc = {.before = {.attributes_follow = FALSE}};
	char path[NFS3_PATH_BYTES + 1];
	struct statx st;
	uint32_t len = a->symlink.data_len;
	int e = get_dir_to_change(op, &a->where, &wcc);

	if (!e && name_is_dot(a->where.name))
		e = -EEXIST;
	if (!e && len > NFS3_PATH_BYTES)
		e = -ENAMETOOLONG;
	if (!e && (!len || memchr(op->item, 0, len)))
		e = -EINVAL;
	if (!e)
		e = attributes->size.set_it ? -EINVAL : attr_check(attributes);
	if (!e) {
		memcpy(path, op->item, len);
		path[len] = 0;
		if (symlinkat(path, op->obj->path_fd, a->where.name))
			e = -errno;
	}
	if (!e)
		e = get_made(op, a->where.name, &st);
	if (!e)
		e = set_initial_attributes(op, attributes, true);
	finish_create(op, e, op->obj2, &wcc);
}

static int make_node(struct op *op, const MKNOD3args *a, mode_t type, dev_t dev,
                     const sattr3 *attributes)
{
	struct statx st;
	int e = attributes->size.set_it ? -EINVAL : attr_check(attributes);

	if (!e && mknodat(op->obj->path_fd, a->where.name,
	                  type | choose_mode(attributes, 0644), dev))
		e = -errno;
	if (!e)
		e = get_made(op, a->where.name, &st);
	return e ? e : set_initial_attributes(op, attributes, true);
}

void op_mknod(struct op *op)
{
	const MKNOD3args *a = &op->args.mknod;
	const devicedata3 *dev = &a->what.mknoddata3_u.device;
	const sattr3 *pipe = &a->what.mknoddata3_u.pipe_attributes;
	dev_t number = makedev(dev->spec.specdata1, dev->spec.specdata2);
	wcc_data wcc = {.before = {.attributes_follow = FALSE}};
	int e = get_dir_to_change(op, &a->where, &wcc);

	if (!e && name_is_dot(a->where.name))
		e = -EEXIST;
	if (!e) {
		switch (a->what.type) {
		case NF3CHR:
			e = make_node(op, a, S_IFCHR, number, &dev->dev_attributes);
			break;
		case NF3BLK:
			e = make_node(op, a, S_IFBLK, number, &dev->dev_attributes);
			break;
		case NF3SOCK:
			e = make_node(op, a, S_IFSOCK, 0, pipe);
			break;
		case NF3FIFO:
			e = make_node(op, a, S_IFIFO, 0, pipe);
			break;
		case NF3REG:
		case NF3DIR:
		case NF3LNK:
			e = -EBADRQC;
			break;
		default:
			e = -EBADRQC;
		}
	}
	finish_create(op, e, op->obj2, &wcc);
	if (e == -EBADRQC)
		op->res.status = NFS3ERR_BADTYPE;
}

/* -- removing -------------------------------------------------------------- */

/* Makes the handle of an object whose name is about to be removed, for object_forget.
 * Returns false if there is no such object. */
static bool make_doomed_handle(struct op *op, const struct object *dir,
                               const char *name, struct handle *ret)
{
	struct statx st;

	return !handle_make_child(op->nfsd, dir, name, ret, &st);
}

static void remove_dir_entry(struct op *op, const diropargs3 *a, int flags)
{
	wcc_data wcc = {.before = {.attributes_follow = FALSE}};
	struct handle gone;
	bool known = false;
	int e = get_dir_to_change(op, a, &wcc);

	if (!e && name_is_dot(a->name))
		e = strcmp(a->name, ".") ? -EEXIST : -EINVAL;
	if (!e) {
		known = make_doomed_handle(op, op->obj, a->name, &gone);
		if (unlinkat(op->obj->path_fd, a->name, flags))
			e = -errno;
	}
	if (!e && known)
		object_forget(op->nfsd, &gone);
	op->res.status = nfs_status(e);
	attr_post(op->obj, &wcc.after);
	op->res.remove.REMOVE3res_u.resok.dir_wcc = wcc; /* same as resfail */
	if (!e)
		op_sync_change(op, op->obj);
}

void op_remove(struct op *op)
{
	remove_dir_entry(op, &op->args.remove.object, 0);
}

void op_rmdir(struct op *op)
{
	remove_dir_entry(op, &op->args.rmdir.object, AT_REMOVEDIR);
}

/* -- RENAME, LINK ---------------------------------------------------------- */

/* Returns 0 if both handles belong to the same export, -EXDEV if they do not, or
 * another negative errno.  Opens neither handle, because the other export's file system
 * may not respond. */
static int check_same_export(struct nfsd *d, const nfs_fh3 *a, const nfs_fh3 *b)
{
	struct export *x, *y;
	int e = handle_verify(d, a->data.data_val, a->data.data_len, &x);

	if (e)
		return e;
	e = handle_verify(d, b->data.data_val, b->data.data_len, &y);
	if (!e)
		export_put(d, y);
	export_put(d, x);
	return e ? e : x == y ? 0 : -EXDEV;
}

static int rename_dir_entry(struct op *op, const RENAME3args *a)
{
	struct handle gone;
	struct statx st;
	bool known;

	if (name_is_dot(a->from.name) || name_is_dot(a->to.name))
		return -EINVAL;
	known = make_doomed_handle(op, op->obj2, a->to.name, &gone);
	if (renameat(op->obj->path_fd, a->from.name, op->obj2->path_fd, a->to.name))
		return -errno;
	if (known)
		object_forget(op->nfsd, &gone);
	if (op->obj->ex->walk && !statx_fd(op->obj2->path_fd, a->to.name, &st))
		walk_learn(op->obj->ex, st.stx_ino, op->obj2->ino, a->to.name);
	return 0;
}

void op_rename(struct op *op)
{
	const RENAME3args *a = &op->args.rename;
	RENAME3resok *ok = &op->res.rename.RENAME3res_u.resok; /* same as resfail */
	wcc_data from = {.before = {.attributes_follow = FALSE}}, to = from;
	int e = check_same_export(op->nfsd, &a->from.dir, &a->to.dir);

	if (!e)
		e = get_directory(op, &a->from, &op->obj);
	if (!e)
		e = get_directory(op, &a->to, &op->obj2);
	e = begin_change(op, e, &from, &to);
	if (!e)
		e = rename_dir_entry(op, a);
	op->res.status = nfs_status(e);
	attr_post(op->obj, &from.after);
	if (op->obj2 == op->obj)
		to.after = from.after;
	else
		attr_post(op->obj2, &to.after);
	ok->fromdir_wcc = from;
	ok->todir_wcc = to;
	if (e)
		return;
	op_sync_change(op, op->obj);
	if (op->obj != op->obj2)
		op_sync_change(op, op->obj2);
}

/* Links the object through its symbolic link in /proc/self/fd, because linkat with
 * AT_EMPTY_PATH needs a capability that users lack. */
static int link_dir_entry(struct op *op, const char *name)
{
	char path[32];

	if (name_is_dot(name))
		return -EEXIST;
	if (S_ISDIR(op->obj2->type))
		return -EISDIR;
	object_proc_path(op->obj2, path);
	if (linkat(AT_FDCWD, path, op->obj->path_fd, name, AT_SYMLINK_FOLLOW))
		return -errno;
	return 0;
}

void op_link(struct op *op)
{
	const LINK3args *a = &op->args.link;
	LINK3resok *ok = &op->res.link.LINK3res_u.resok; /* same as resfail */
	wcc_data wcc = {.before = {.attributes_follow = FALSE}};
	int e = check_same_export(op->nfsd, &a->file, &a->link.dir);

	if (!e)
		e = get_directory(op, &a->link, &op->obj);
	if (!e)
		e = object_get(op->nfsd, &a->file, &op->id, &op->obj2);
	e = begin_change(op, e, &wcc, NULL);
	if (!e)
		e = link_dir_entry(op, a->link.name);
	op->res.status = nfs_status(e);
	attr_post(op->obj2, &ok->file_attributes);
	attr_post(op->obj, &wcc.after);
	ok->linkdir_wcc = wcc;
	if (!e)
		op_sync_change(op, op->obj);
}
