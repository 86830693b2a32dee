/// A library that is looked for at run time: a machine without it has no link
/// error, but a status that its user words.
#ifndef SPRT_LIB_SUPPORT_SHAREDLIBRARY_H
#define SPRT_LIB_SUPPORT_SHAREDLIBRARY_H

#include <initializer_list>
#include <string>

#include <dlfcn.h>

namespace sprt {

class SharedLibrary {
public:
  SharedLibrary() = default;
  SharedLibrary(const SharedLibrary &) = delete;
  SharedLibrary &operator=(const SharedLibrary &) = delete;
  ~SharedLibrary() {
    if (library)
      dlclose(library);
  }

  /// Loads the first of these that there is; false where there is none, and
  /// `failure` says why. `stays`: until the process ends, whoever closes it.
  bool open(std::initializer_list<const char *> names, bool stays) {
    for (const char *name : names) {
      library =
          dlopen(name, RTLD_NOW | RTLD_LOCAL | (stays ? RTLD_NODELETE : 0));
      if (library)
        return true;
      failure += (failure.empty() ? "" : "; ") + std::string(dlerror());
    }
    return false;
  }

  /// A symbol's address, or null.
  void *find(const char *symbol) const { return dlsym(library, symbol); }
  /// Finds a function; `missing` names the first that there is not.
  template <typename Function>
  void find(const char *symbol, Function *&out_function) {
    out_function = reinterpret_cast<Function *>(find(symbol));
    if (!out_function && !missing)
      missing = symbol;
  }

  std::string failure;
  const char *missing = nullptr;

private:
  void *library = nullptr;
};

} // namespace sprt

#endif // SPRT_LIB_SUPPORT_SHAREDLIBRARY_H
