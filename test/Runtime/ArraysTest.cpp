// Array files: what was written is read, and what is damaged is refused.

#include "arrays/Arrays.h"
#include "support/Types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

namespace sprt::test {
namespace {

std::string take(sprt_status *status) {
  std::string text = sprt_status_text(status);
  sprt_status_free(status);
  return text;
}

std::string pathOf(const std::string &name) {
  return testing::TempDir() + "sprt-" + name;
}

/// One array of every type that a format holds.
NamedArrays examples(bool npz) {
  NamedArrays arrays;
  for (int type = SPRT_F64; type <= SPRT_C128; ++type) {
    auto dtype = static_cast<sprt_dtype>(type);
    if (dtype == SPRT_C128 && !npz)
      continue;
    NamedArray &array = arrays.emplace_back();
    array.name = std::string("array_") + sprt_dtype_name(dtype);
    array.dtype = dtype;
    array.shape = {2, 0 + type % 3, 3};
    array.data.resize(static_cast<size_t>(*elementCount(array.shape)) *
                      sprt_dtype_size(dtype));
    for (size_t i = 0; i < array.data.size(); ++i)
      array.data[i] = static_cast<std::byte>(i * 7 + 1);
  }
  NamedArray &scalar = arrays.emplace_back();
  scalar.name = "scalar";
  scalar.dtype = SPRT_I32;
  scalar.data.resize(4);
  return arrays;
}

TEST(Arrays, everyTypeSurvivesAFile) {
  for (bool npz : {true, false}) {
    NamedArrays written = examples(npz), read;
    std::string path = pathOf(npz ? "types.npz" : "types.safetensors");
    Status failure =
        npz ? writeNpz(written, path) : writeSafetensors(written, path);
    ASSERT_FALSE(failure) << failure->text;
    failure = npz ? readNpz(path, read) : readSafetensors(path, read);
    ASSERT_FALSE(failure) << failure->text;
    ASSERT_EQ(read.size(), written.size());
    for (size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i].name, written[i].name);
      EXPECT_EQ(read[i].shape, written[i].shape);
      EXPECT_EQ(read[i].data, written[i].data);
      bool raw = npz && written[i].dtype == SPRT_BF16;
      EXPECT_EQ(read[i].dtype, raw ? SPRT_U16 : written[i].dtype);
    }
  }
}

TEST(Arrays, everyTruncationAndFlippedByteIsReadOrRefused) {
  for (bool npz : {true, false}) {
    std::string path = pathOf(npz ? "small.npz" : "small.safetensors");
    NamedArrays small(1);
    small[0].name = "a";
    small[0].shape = {2, 3};
    small[0].data.resize(24);
    Status failure =
        npz ? writeNpz(small, path) : writeSafetensors(small, path);
    ASSERT_FALSE(failure);
    std::ifstream file(path, std::ios::binary);
    std::string content((std::istreambuf_iterator<char>(file)),
                        std::istreambuf_iterator<char>());
    std::string damagedPath =
        pathOf(npz ? "damaged.npz" : "damaged.safetensors");
    NamedArrays arrays;
    auto read = [&](const std::string &bytes) {
      std::ofstream(damagedPath, std::ios::binary) << bytes;
      arrays.clear();
      return npz ? readNpz(damagedPath, arrays)
                 : readSafetensors(damagedPath, arrays);
    };
    for (size_t size = 0; size < content.size(); ++size)
      EXPECT_TRUE(read(content.substr(0, size))) << size;
    for (size_t at = 0; at < content.size(); ++at) {
      std::string damaged = content;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x81);
      if (Status refused = read(damaged))
        EXPECT_NE(refused->text, "");
      // Only .npz has a checksum: there, what is read is what was written.
      else if (npz && !arrays.empty())
        EXPECT_TRUE(arrays[0].data == small[0].data &&
                    arrays[0].shape == small[0].shape)
            << at;
    }
  }
}

TEST(Arrays, aFlippedBitNamesItsArray) {
  NamedArrays arrays(2), read;
  for (size_t i = 0; i < 2; ++i) {
    arrays[i].name = i ? "second" : "first";
    arrays[i].shape = {1000};
    arrays[i].data.resize(4000);
  }
  std::string path = pathOf("flipped.npz");
  ASSERT_FALSE(writeNpz(arrays, path));
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(6000);
  file.put(1);
  file.close();
  Status refused = readNpz(path, read);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->text,
            path + ": \"second\": the data is damaged: CRC error");
}

/// A .safetensors file with this header and as many bytes of data.
Status readHeader(const std::string &header, size_t dataBytes,
                  NamedArrays &out_arrays) {
  std::string path = pathOf("header.safetensors");
  uint64_t length = header.size();
  std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char *>(&length), sizeof length)
      << header << std::string(dataBytes, 'x');
  return readSafetensors(path, out_arrays);
}

TEST(Safetensors, theHeadersOwnNameIsRefused) {
  std::string path = pathOf("reserved.safetensors");
  NamedArrays arrays(1);
  arrays[0].name = "__metadata__";
  EXPECT_EQ(writeSafetensors(arrays, path)->text,
            path + ": the format has no array \"__metadata__\"; write an .npz "
                   "file, or call it otherwise");
}

// Each name was looked for among all others: as many took a minute.
TEST(Safetensors, manyNamesAreRead) {
  NamedArrays written(300000), read;
  for (size_t i = 0; i < written.size(); ++i) {
    written[i].name = "layers." + std::to_string(i) + ".weight";
    written[i].dtype = SPRT_U8;
    written[i].shape = {1};
    written[i].data = {static_cast<std::byte>(i)};
  }
  std::string path = pathOf("many.safetensors");
  ASSERT_FALSE(writeSafetensors(written, path));
  sprt_arrays *arrays = nullptr;
  ASSERT_EQ(take(sprt_arrays_read(path.c_str(), &arrays)), "");
  ASSERT_EQ(sprt_arrays_count(arrays), 300000);
  for (size_t i = 0; i < written.size(); ++i)
    ASSERT_EQ(sprt_arrays_find(arrays, written[i].name.c_str()),
              static_cast<int64_t>(i));
  sprt_arrays_free(arrays);
}

TEST(Safetensors, dataIsNotSharedNorTheHeaderEndless) {
  NamedArrays read;
  Status shared =
      readHeader(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                 R"("b":{"dtype":"U8","shape":[3],"data_offsets":[2,5]}})",
                 5, read);
  ASSERT_TRUE(shared);
  EXPECT_NE(shared->text.find("\"b\" shares data with \"a\""),
            std::string::npos)
      << shared->text;
  Status between = readHeader(
      R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[1,5]}})", 5, read);
  ASSERT_TRUE(between);
  EXPECT_NE(between->text.find("the data of \"a\" at byte 0 but got 1"),
            std::string::npos)
      << between->text;
  Status endless =
      readHeader("{" + std::string(100'000'000, ' ') + "}", 0, read);
  ASSERT_TRUE(endless);
  EXPECT_NE(endless->text.find("expected a header of at most 100000000 bytes"),
            std::string::npos)
      << endless->text;
}

TEST(Npy, headersOfNumpyAreUnderstood) {
  NpyHeader header;
  ASSERT_FALSE(parseNpyHeader(
      "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 4), }   \n",
      header));
  EXPECT_EQ(header.dtype, SPRT_F32);
  EXPECT_TRUE(header.fortranOrder);
  EXPECT_EQ(header.shape, (std::vector<int64_t>{3, 4}));
  header = {};
  ASSERT_FALSE(parseNpyHeader(
      "{'descr': '|V2', 'fortran_order': False, 'shape': (5,)}", header));
  EXPECT_EQ(header.dtype, SPRT_V2);
  header = {};
  ASSERT_FALSE(parseNpyHeader(
      "{'descr': '|b1', 'fortran_order': False, 'shape': ()}", header));
  EXPECT_TRUE(header.shape.empty());
  struct {
    const char *text, *expected;
  } bad[] = {
      {"{'descr': '>f4', 'fortran_order': False, 'shape': ()}", "big-endian"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}",
       "records"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': ()}",
       "numpy type \"|O\""},
      {"{'descr': '<f4', 'shape': ()}", "lacks descr"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,-1)}",
       "not a tuple"}};
  for (const auto &[text, expected] : bad) {
    Status status = parseNpyHeader(text, header);
    ASSERT_TRUE(status) << text;
    EXPECT_NE(status->text.find(expected), std::string::npos) << status->text;
  }
}

TEST(Npy, fortranOrderBecomesRowMajor) {
  // Columns (1 2) (3 4) (5 6) of a 2x3 matrix.
  std::vector<std::byte> data(6);
  for (size_t i = 0; i < 6; ++i)
    data[i] = static_cast<std::byte>(i + 1);
  toRowMajor({2, 3}, 1, data);
  std::vector<int> values;
  for (std::byte byte : data)
    values.push_back(std::to_integer<int>(byte));
  EXPECT_EQ(values, (std::vector<int>{1, 3, 5, 2, 4, 6}));
}

TEST(Arrays, cAbiRefusesWhatDoesNotFit) {
  sprt_arrays *arrays = nullptr;
  EXPECT_EQ(take(sprt_arrays_read("a.txt", &arrays)),
            "a.txt: expected a name that ends in .npz or .safetensors");
  EXPECT_NE(take(sprt_arrays_read("/nonexistent/a.npz", &arrays)), "");
  ASSERT_EQ(take(sprt_arrays_create(&arrays)), "");
  int64_t shape[] = {2};
  sprt_array array = {sizeof array, SPRT_F32, 1, shape, nullptr};
  EXPECT_EQ(take(sprt_arrays_add(arrays, "a", &array)), "");
  EXPECT_EQ(take(sprt_arrays_add(arrays, "a", &array)),
            "two arrays are called \"a\"");
  EXPECT_EQ(sprt_arrays_find(arrays, "a"), 0);
  EXPECT_EQ(sprt_arrays_find(arrays, "b"), -1);
  sprt_arrays_free(arrays);
}

TEST(Random, isReproducibleAndHasItsVariance) {
  int64_t shape[] = {100, 400};
  std::vector<float> first(40000), second(40000);
  for (std::vector<float> *values : {&first, &second}) {
    sprt_array array = {sizeof array, SPRT_F32, 2, shape, values->data()};
    ASSERT_EQ(take(sprt_array_fill_random(&array, 7, 3, 0, 63)), "");
  }
  EXPECT_EQ(first, second);
  double sum = 0, squares = 0;
  for (float value : first) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  EXPECT_NEAR(sum / 40000, 0, 0.002);
  EXPECT_NEAR(squares / 40000, 0.01, 0.0005);
  std::vector<int32_t> integers(10000);
  int64_t count[] = {10000};
  sprt_array array = {sizeof array, SPRT_I32, 1, count, integers.data()};
  ASSERT_EQ(take(sprt_array_fill_random(&array, 7, 3, -2, 2)), "");
  EXPECT_EQ(*std::min_element(integers.begin(), integers.end()), -2);
  EXPECT_EQ(*std::max_element(integers.begin(), integers.end()), 2);
  EXPECT_NE(take(sprt_array_fill_random(&array, 7, 3, 2, 1)), "");
}

TEST(Types, halfPrecisionRoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    if (!std::isnan(f16ToFloat(half)))
      EXPECT_EQ(floatToF16(f16ToFloat(half)), half);
    if (!std::isnan(bf16ToFloat(half)))
      EXPECT_EQ(floatToBf16(bf16ToFloat(half)), half);
  }
  EXPECT_EQ(floatToF16(65520.0F), 0x7C00);
  EXPECT_EQ(floatToF16(65519.0F), 0x7BFF);
  EXPECT_EQ(floatToF16(0x1p-25F), 0);
  EXPECT_EQ(floatToF16(0x1.8p-25F), 1);
  EXPECT_EQ(floatToF16(0x1.ffep+0F + 0x1p-12F), floatToF16(2.0F));
  EXPECT_EQ(floatToBf16(1.0F + 0x1p-8F), floatToBf16(1.0F));
}

} // namespace
} // namespace sprt::test
