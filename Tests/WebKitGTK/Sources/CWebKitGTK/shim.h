#include <webkit2/webkit2.h>
#include <gio/gunixinputstream.h>
