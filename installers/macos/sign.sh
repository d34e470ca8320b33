#!/bin/sh
# Signs Safelight.app on a Mac, has Apple notarise it, and writes a disk image, and beside it an
# archive of the app for updates, with .tar.xz in place of .dmg:
#
#     sign.sh SAFELIGHT.APP IMAGE.DMG
#
# IDENTITY is the name of a "Developer ID Application" certificate in the keychain, PROFILE one that
# `xcrun notarytool store-credentials` has stored. Without IDENTITY the signature is nobody's: the app
# runs where it was built, and elsewhere after "Open Anyway" in the settings of macOS.
set -eu
app=$1
image=$2
identity=${IDENTITY:--}
here=$(cd "$(dirname "$0")" && pwd)
interpreter=Contents/Resources/runtime/bin/python3.13

# The hardened runtime lets a process load libraries of its own signer only; a nobody has none.
hardened="--options runtime --timestamp"
[ "$identity" = - ] && hardened=

# sign FILE [OPTION ...]
sign() {
  file=$1
  shift
  # shellcheck disable=SC2086 # several options
  codesign --force $hardened --sign "$identity" "$@" "$file"
}

# A signature covers those inside: libraries first, then frameworks, then the bundle. Executables get
# the rights of their process.
find "$app/Contents/Resources" -type f ! -path '*.framework/*' \( -name '*.so' -o -name '*.dylib' \) |
  while IFS= read -r library; do
    sign "$library"
  done
find "$app/Contents/Resources" -type d -path '*.framework/Versions/?' |
  while IFS= read -r framework; do
    sign "$framework"
  done
sign "$app/$interpreter" --entitlements "$here/engine.entitlements"

# The app knows its files by their hashes, which signatures have changed.
"$app/$interpreter" -IB -c "import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from installers.file_list import write_file_list
write_file_list(Path(sys.argv[2]))" "$here/../.." "$app/Contents/Resources"
sign "$app"
codesign --verify --strict --deep "$app"

# notarise FILE: waits for Apple's verdict, and fails if there is none.
notarise() {
  xcrun notarytool submit "$1" --keychain-profile "$PROFILE" --wait
}

if [ -n "${PROFILE:-}" ]; then
  archive=$(mktemp -d)/Safelight.zip
  ditto -c -k --keepParent "$app" "$archive"
  notarise "$archive"
  xcrun stapler staple "$app"
fi

folder=$(mktemp -d)
ditto "$app" "$folder/$(basename "$app")"
ln -s /Applications "$folder/Applications"
hdiutil create -quiet -ov -volname Safelight -srcfolder "$folder" -format ULFO "$image"
rm -r "$folder"
sign "$image"
if [ -n "${PROFILE:-}" ]; then
  notarise "$image"
  xcrun stapler staple "$image"
fi

# Without the system's own files of extended attributes, which updates do not unpack.
COPYFILE_DISABLE=1 tar -cJf "${image%.dmg}.tar.xz" -C "$(dirname "$app")" "$(basename "$app")"
