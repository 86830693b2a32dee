#include "PlanFields.h"

#include "flatbuffers/minireflect.h"

namespace sprt::test {

namespace {

using flatbuffers::ElementaryType;
using flatbuffers::TypeTable;
using flatbuffers::uoffset_t;

class Walk {
public:
  Walk(const uint8_t *begin, std::vector<Field> &fields)
      : begin(begin), fields(fields) {}

  void object(const uint8_t *data, const TypeTable &type,
              const std::string &name) {
    const uint8_t *before = nullptr; // the field's number of a union
    for (size_t i = 0; i < type.num_elems; ++i) {
      const uint8_t *value =
          type.st == flatbuffers::ST_TABLE
              ? reinterpret_cast<const flatbuffers::Table *>(data)
                    ->GetAddressOf(flatbuffers::FieldIndexToOffset(
                        static_cast<flatbuffers::voffset_t>(i)))
              : data + type.values[i];
      if (value)
        field(value, type, i, before, name + "." + type.names[i]);
      before = value;
    }
  }

private:
  static const TypeTable *typeOf(const TypeTable &type, size_t i) {
    int16_t reference = type.type_codes[i].sequence_ref;
    return reference < 0 ? nullptr : type.type_refs[reference]();
  }

  void field(const uint8_t *value, const TypeTable &type, size_t i,
             const uint8_t *before, const std::string &name) {
    auto kind = static_cast<ElementaryType>(type.type_codes[i].base_type);
    const TypeTable *of = typeOf(type, i);
    if (!type.type_codes[i].is_repeating)
      return element(value, kind, of, before, name);
    value += flatbuffers::ReadScalar<uoffset_t>(value);
    auto count = flatbuffers::ReadScalar<uoffset_t>(value);
    value += sizeof(uoffset_t);
    size_t size = flatbuffers::InlineSize(kind, of);
    for (uoffset_t number = 0; number < count; ++number)
      element(value + number * size, kind, of, nullptr, name);
  }

  void element(const uint8_t *value, ElementaryType kind, const TypeTable *of,
               const uint8_t *before, const std::string &name) {
    if (kind == flatbuffers::ET_STRING)
      return;
    if (kind != flatbuffers::ET_SEQUENCE) {
      fields.push_back({name, kind, static_cast<size_t>(value - begin),
                        flatbuffers::InlineSize(kind, of)});
      return;
    }
    if (of->st != flatbuffers::ST_STRUCT)
      value += flatbuffers::ReadScalar<uoffset_t>(value);
    std::string own = name.substr(name.rfind('.') + 1);
    if (of->st != flatbuffers::ST_UNION)
      return object(value, *of, own);
    if (const TypeTable *member = typeOf(*of, *before))
      object(value, *member, of->names[*before]);
  }

  const uint8_t *begin;
  std::vector<Field> &fields;
};

} // namespace

std::vector<Field> fieldsOf(const std::vector<uint8_t> &bytes) {
  std::vector<Field> fields;
  Walk(bytes.data(), fields)
      .object(flatbuffers::GetRoot<uint8_t>(bytes.data()),
              *plan::PlanTypeTable(), "Plan");
  return fields;
}

std::vector<uint8_t> writtenOut(const plan::PlanT &plan) {
  flatbuffers::FlatBufferBuilder builder;
  builder.ForceDefaults(true);
  plan::FinishPlanBuffer(builder, plan::CreatePlan(builder, &plan));
  return {builder.GetBufferPointer(),
          builder.GetBufferPointer() + builder.GetSize()};
}

} // namespace sprt::test
