#!/bin/sh
# Builds the program in front of an AppImage's file system, which mounts it: one static executable
# for any Linux. Runs beside the folders of sources; ZIG is the compiler. The options of libfuse and
# squashfuse say of musl what their own configuration would find out; nothing but zstd and zlib can
# be in the file system.
set -eu
export LC_ALL=C

compile() {
  "$ZIG" cc -target x86_64-linux-musl -Os -s -w -ffunction-sections -fdata-sections \
    -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Iheaders -Isquashfuse -Ifuse3/include -Ilibzstd/lib -Izlib "$@"
}

mkdir headers objects
ln -s ../squashfuse headers/squashfuse # for type2-runtime, which includes <squashfuse/ll.h>
: > squashfuse/config.h
: > headers/fuse_config.h
version=${FUSE_VERSION%%-*}
major=${version%%.*} rest=${version#*.}
cat > headers/libfuse_config.h << END
#define FUSE_MAJOR_VERSION $major
#define FUSE_MINOR_VERSION ${rest%%.*}
#define FUSE_HOTFIX_VERSION ${rest#*.}
#define FUSE_RC_VERSION ""
END
(cd squashfuse && sh gen_swap.sh squashfs_fs.h)

fuse_options="-DFUSE_USE_VERSION=317 -D_REENTRANT -DHAVE_LIBFUSE_PRIVATE_CONFIG_H
  -fno-strict-aliasing -DHAVE_FORK -DHAVE_FSTATAT -DHAVE_OPENAT -DHAVE_READLINKAT -DHAVE_PIPE2
  -DHAVE_SPLICE -DHAVE_VMSPLICE -DHAVE_POSIX_FALLOCATE -DHAVE_FDATASYNC -DHAVE_UTIMENSAT
  -DHAVE_COPY_FILE_RANGE -DHAVE_FALLOCATE -DHAVE_SETXATTR -DHAVE_STRUCT_STAT_ST_ATIM
  -DHAVE_PTHREAD_SETNAME_NP -DHAVE_STATIC_ASSERT"
for name in buffer compat cuse_lowlevel fuse fuse_log fuse_loop fuse_loop_mt fuse_lowlevel fuse_opt \
  fuse_signals helper modules/subdir mount mount_util util; do
  # shellcheck disable=SC2086 # the options are words
  compile -c $fuse_options -Ifuse3/lib -DFUSERMOUNT_DIR='"/usr/bin"' \
    -DPACKAGE_VERSION="\"$version\"" "fuse3/lib/$name.c" -o "objects/fuse-${name##*/}.o"
done

squashfuse_options="-DFUSE_USE_VERSION=32 -DHAVE_ASM_BYTEORDER_H -DHAVE_LINUX_TYPES_LE16
  -DHAVE_ENDIAN_H -DHAVE_SYS_SYSMACROS_H -DHAVE_ZLIB_H -DHAVE_ZSTD_H -DHAVE_NEW_FUSE_UNMOUNT
  -DHAVE_FUSE_LL_FORGET_OP_64T -DHAVE_DECL_FUSE_ADD_DIRENTRY=1 -DHAVE_DECL_FUSE_DAEMONIZE=1
  -DHAVE_DECL_FUSE_CMDLINE_HELP=1 -DHAVE_DECL_FUSE_SESSION_REMOVE_CHAN=0 -DSQFS_MULTITHREADED
  -DPACKAGE_NAME=\"squashfuse\" -DPACKAGE_STRING=\"squashfuse\""
for name in cache cache_mt decompress dir file fs fuseprivate hash ll ll_inode nonstd-daemon \
  nonstd-enoattr nonstd-makedev nonstd-pread nonstd-stat stack stat swap table traverse util xattr; do
  # shellcheck disable=SC2086
  compile -c $squashfuse_options "squashfuse/$name.c" -o "objects/squashfuse-$name.o"
done

for path in libzstd/lib/common/*.c libzstd/lib/decompress/*.c; do
  name=${path##*/}
  compile -c -DZSTD_DISABLE_ASM "$path" -o "objects/zstd-${name%.c}.o"
done
for name in adler32 crc32 inffast inflate inftrees uncompr zutil; do
  compile -c "zlib/$name.c" -o "objects/zlib-$name.o"
done

# musl's nftw visits nothing with no descriptors to spare: what --appimage-extract-and-run unpacks
# would stay.
sed -i 's/nftw(path, &rm_recursive_callback, 0,/nftw(path, \&rm_recursive_callback, 16,/' \
  type2-runtime/src/runtime/runtime.c
grep -q 'rm_recursive_callback, 16,' type2-runtime/src/runtime/runtime.c
# shellcheck disable=SC2086
compile -c $squashfuse_options -DGIT_COMMIT="\"$RUNTIME_VERSION\"" \
  type2-runtime/src/runtime/runtime.c -o objects/runtime.o
compile -static -Wl,--gc-sections objects/*.o -o runtime
