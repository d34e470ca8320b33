#!/bin/sh
# Builds CPython in a chroot of an old Debian: runs there, in /build, with the sources beside it.
# Libraries that differ between distributions are linked into the one executable, and their symbols
# are kept from Qt's and the system's copies of the same libraries.
set -eu
cd /build
jobs=${JOBS:-2}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
export CFLAGS="-O2 -fPIC -ffile-prefix-map=/build=. -fstack-protector-strong -D_FORTIFY_SOURCE=2"
libraries=/build/libraries

# unpack NAME: the sources of one package, with the patches that inputs.toml names.
unpack() {
  rm -rf "/build/$1" && mkdir "/build/$1"
  tar -xf /build/sources/"$1".orig --strip-components=1 -C "/build/$1"
  cd "/build/$1"
  while read -r patch; do
    patch --quiet -p1 < "$patch"
  done < /build/sources/"$1".patches
}

unpack zlib
./configure --static --prefix=$libraries
make -j"$jobs" libz.a
make install

unpack bzip2
make -j"$jobs" libbz2.a CFLAGS="$CFLAGS -D_FILE_OFFSET_BITS=64"
install -D -m 644 libbz2.a $libraries/lib/libbz2.a
install -D -m 644 bzlib.h $libraries/include/bzlib.h

unpack xz-utils
./configure --prefix=$libraries --disable-shared --disable-xz --disable-xzdec --disable-lzmadec \
  --disable-lzmainfo --disable-lzma-links --disable-scripts --disable-doc --disable-nls
make -j"$jobs" install

unpack libffi
# The old Debian has autoconf 2.69, which is enough for all but the names of two macros.
sed -i -e "s/AC_PREREQ(\[2.71\])//" -e "s/AC_CHECK_INCLUDES_DEFAULT/AC_HEADER_STDC/" configure.ac
autoreconf -fi
./configure --prefix=$libraries --disable-shared --disable-docs --disable-multi-os-directory \
  --disable-exec-static-tramp
make -j"$jobs" install

unpack sqlite3
./configure --disable-tcl --disable-readline
make sqlite3.c
gcc $CFLAGS -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE \
  -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_OMIT_LOAD_EXTENSION -c sqlite3.c -o sqlite3.o
ar rcsD $libraries/lib/libsqlite3.a sqlite3.o
install -m 644 sqlite3.h sqlite3ext.h $libraries/include/

# Without what neither TLS 1.2 and 1.3 nor hashlib's guaranteed algorithms need.
unpack openssl
./Configure linux-x86_64 --prefix=$libraries --libdir=lib --openssldir=/etc/ssl \
  no-shared no-dso no-module no-tests no-apps no-docs no-legacy no-quic no-ssl3 no-comp no-engine \
  no-aria no-bf no-camellia no-cast no-cmp no-cms no-ct no-dsa no-dtls no-ec2m no-gost no-idea no-md4 \
  no-mdc2 no-ml-dsa no-ocb no-rc2 no-rc4 no-rfc3779 no-rmd160 no-seed no-siv no-slh-dsa no-sm2 no-sm3 \
  no-sm4 no-srp no-srtp no-ts no-whirlpool
make -j"$jobs" build_generated libcrypto.a libssl.a
make install_dev

unpack python3.13
hidden=libssl.a:libcrypto.a:libz.a:libbz2.a:liblzma.a:libffi.a:libsqlite3.a
env PKG_CONFIG_LIBDIR=$libraries/lib/pkgconfig CPPFLAGS="-I$libraries/include" \
  LDFLAGS="-L$libraries/lib -Wl,--exclude-libs,$hidden -Wl,-z,relro,-z,now" \
  MODULE_BUILDTYPE=static LIBSQLITE3_CFLAGS="-I$libraries/include" \
  LIBSQLITE3_LIBS="-L$libraries/lib -lsqlite3 -lm" \
  py_cv_module__tkinter=n/a py_cv_module__curses=n/a py_cv_module__curses_panel=n/a \
  py_cv_module_readline=n/a py_cv_module__dbm=n/a py_cv_module__gdbm=n/a py_cv_module__uuid=n/a \
  py_cv_module_xxlimited=n/a py_cv_module_xxlimited_35=n/a py_cv_module__ctypes_test=n/a \
  ./configure --prefix=/runtime --with-openssl=$libraries --disable-test-modules \
  --without-ensurepip --without-static-libpython
make -j"$jobs"
make DESTDIR=/build/result altinstall
strip --strip-all /build/result/runtime/bin/python3.13
# A module whose library was not found is left out without an error.
/build/result/runtime/bin/python3.13 -I -c "import bz2, ctypes, lzma, sqlite3, ssl, zlib, _hashlib"

gcc -O2 -Wall -Werror -D_GNU_SOURCE -o /build/result/runtime/launcher /build/launcher.c
strip --strip-all /build/result/runtime/launcher
