// Carries the precompiled MLIR headers that every compiler library reuses.
