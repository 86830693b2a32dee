//===- Arguments.cpp - Roles and layouts of a program's arguments ---------===//

#include "Arguments.h"

#include "Units.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/Program.h"
#include "sp/IR/SP.h"
#include "sp/IR/Storage.h"
#include "sp/Partition/Passes.h"

#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;
using namespace mlir::sp;
using nlohmann::json;
using sprt::tools::bytesText;

FailureOr<SmallVector<NotedArgument>> mlir::sp::noteArguments(ModuleOp module) {
  PassManager manager(module.getContext());
  manager.addPass(createResolveDonationsPass());
  if (failed(manager.run(module)))
    return failure();
  FailureOr<func::FuncOp> func = findProgram(module);
  if (failed(func))
    return failure();
  SmallVector<NotedArgument> arguments;
  for (auto [argument, role] :
       llvm::zip_equal(func->getArguments(), findRoles(*func))) {
    auto named = dyn_cast<NameLoc>(argument.getLoc());
    arguments.push_back({named
                             ? named.getName().str()
                             : "arg" + std::to_string(argument.getArgNumber()),
                         role, cast<RankedTensorType>(argument.getType())});
  }
  return arguments;
}

/// "dp*sp,_" for a first dimension that ranks of both axes have parts of, as
/// --shard says it; "sp zigzag" where these are not one range; "whole".
static std::string describeLayout(ShardingAttr sharding) {
  if (sharding.isReplicated())
    return "whole";
  return llvm::join(
      llvm::map_range(
          sharding.getDims(),
          [](DimAttr dim) {
            SmallVector<std::string> axes;
            for (AtomAttr atom : dim.getAtoms())
              if (LayoutAttr layout = atom.getLayout()) {
                std::string kind = stringifyLayoutKind(layout.getKind()).str();
                axes.push_back(layout.getAxis().getText() +
                               (layout.getKind() == LayoutKind::Contiguous
                                    ? ""
                                    : " " + kind));
              }
            return axes.empty() ? "_" : llvm::join(axes, "*");
          }),
      ",");
}

/// "4096x14336xbf16".
static std::string describeType(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (int64_t size : type.getShape())
    stream << size << "x";
  stream << type.getElementType();
  return text;
}

json mlir::sp::describeArguments(ModuleOp module,
                                 ArrayRef<NotedArgument> arguments) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  std::map<std::tuple<ArgumentRole, std::string, std::string>, json> groups;
  for (auto [number, noted] : llvm::enumerate(arguments)) {
    std::string type = describeType(noted.type);
    std::string layout =
        describeLayout(main.getArgAttrOfType<ShardingAttr>(number, kSharding));
    auto [group, isNew] = groups.try_emplace({noted.role, type, layout});
    if (isNew)
      group->second = {
          {"role", nameOf(noted.role)},
          {"count", 0},
          {"type", type},
          {"layout", layout},
          {"bytes", storageBytes(noted.type)},
          {"rankBytes", storageBytes(main.getArgumentTypes()[number])},
          {"argument", number},
          {"example", noted.name}};
    group->second["count"] = group->second["count"].get<int64_t>() + 1;
  }
  // The largest of a role first.
  std::map<std::tuple<ArgumentRole, int64_t, std::string, std::string>, json>
      sorted;
  for (auto &[key, group] : groups) {
    const auto &[role, type, layout] = key;
    int64_t bytes =
        group["count"].get<int64_t>() * group["bytes"].get<int64_t>();
    sorted[{role, -bytes, type, layout}] = std::move(group);
  }
  json list = json::array();
  for (auto &[key, group] : sorted)
    list.push_back(std::move(group));
  return list;
}

namespace {

/// What is there of several arguments.
struct Sum {
  int64_t count = 0;
  double bytes = 0, rankBytes = 0;

  void add(const json &group) {
    auto each = group["count"].get<int64_t>();
    count += each;
    bytes += double(each) * group["bytes"].get<double>();
    rankBytes += double(each) * group["rankBytes"].get<double>();
  }
};

} // namespace

/// As --shard names it, and as the program does.
static std::string exampleOf(const json &group) {
  std::string number = "arg" + std::to_string(group["argument"].get<int64_t>()),
              name = group["example"].get<std::string>();
  return name == number ? name : number + " " + name;
}

void mlir::sp::printArguments(const json &arguments, raw_ostream &os) {
  // With what else is said this leaves a screen of 50 lines.
  constexpr size_t kMost = 24;
  std::map<std::string, Sum> roles;
  for (const json &group : arguments)
    roles[group["role"].get<std::string>()].add(group);
  if (roles.empty())
    return;
  os << "arguments, whole and on a rank:";
  StringRef separator = " ";
  for (ArgumentRole role :
       {ArgumentRole::Parameter, ArgumentRole::State, ArgumentRole::Cache,
        ArgumentRole::Small, ArgumentRole::Data})
    if (auto sum = roles.find(nameOf(role).str()); sum != roles.end()) {
      os << separator << nameOf(role) << " " << bytesText(sum->second.bytes)
         << " and " << bytesText(sum->second.rankBytes);
      separator = ", ";
    }
  os << "\n";
  Sum rest;
  size_t kinds = 0;
  for (const json &group : arguments) {
    if (kinds++ >= kMost) {
      rest.add(group);
      continue;
    }
    auto text = [&](const char *key) { return group[key].get<std::string>(); };
    os << llvm::formatv(
        "  {0,5} {1,-9}  {2,-20} {3,-14} {4,11} {5,11}  {6}\n",
        group["count"].get<int64_t>(), text("role"), text("type"),
        text("layout"), bytesText(group["bytes"].get<double>()),
        bytesText(group["rankBytes"].get<double>()), exampleOf(group));
  }
  if (kinds > kMost)
    os << "  and " << rest.count << " of " << kinds - kMost
       << " other kinds: " << bytesText(rest.bytes) << " and "
       << bytesText(rest.rankBytes) << "\n";
}
