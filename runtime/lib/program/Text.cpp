// The plan for people: one line a command, numbered as reports and --inject
// number them. For a ring of 4 (see PlanText in the tests):
//
//   mesh sp=4   arena 9.25 MiB   scratch 64.00 KiB   constants 0 B   events 2
//   layout 0   zigzag(4096 over 4)
//   input  q: 1x4096x8x64 f32, dim 1 by layout 0 of sp   at arena[0]
//     0  loop t in 0..4
//     1    send_recv "kv" to (sp + 1) % 4 from (sp + 3) % 4 …   if t < 3

#include "program/LayoutOf.h"
#include "program/MaskText.h"
#include "program/Program.h"

#include <cinttypes>
#include <cstdio>

namespace sprt {
namespace {

std::string sizeText(int64_t bytes) {
  static const char *const kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024)
    return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit)
    value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %s", value, kUnits[unit]);
  return text;
}

template <typename T> using List = std::vector<std::unique_ptr<T>>;
class Printer {
public:
  explicit Printer(const plan::PlanT &plan) : plan(plan) {}

  std::string print() {
    head();
    for (size_t i = 0; i < plan.layouts.size(); ++i)
      text += "layout " + std::to_string(i) + "   " +
              layoutOf(*plan.layouts[i]).str() + "\n";
    for (size_t i = 0; i < plan.kernels.size(); ++i)
      text += "kernel " + std::to_string(i) + "   " +
              kernelText(*plan.kernels[i]) + "\n";
    for (const auto &image : plan.images)
      text += "image " + image->architecture + "   " + image->symbol + "   " +
              sizeText(image->bytes) + "\n";
    for (const auto &input : plan.inputs)
      parameter("input ", *input);
    if (plan.batch)
      text += "batch by numbers " + std::to_string(plan.batch->numbers) + "\n";
    for (size_t i = 0; i < plan.documents.size(); ++i)
      text += "documents " + std::to_string(i) + "   queries by " +
              numbers(plan.documents[i]->queries) + "   keys by " +
              numbers(plan.documents[i]->keys) + "\n";
    for (const auto &result : plan.results)
      parameter("result", *result);
    commands(plan.commands, 0);
    return std::move(text);
  }

private:
  std::string expr(const std::unique_ptr<plan::ExprT> &expression) const {
    return expressionText(expression.get(), plan.factors);
  }

  std::string numbers(uint32_t number) const {
    const plan::DocumentNumbersT &of = *plan.document_numbers[number];
    if (of.result < 0)
      return plan.inputs[static_cast<size_t>(of.input)]->name;
    std::string text = "result " + std::to_string(of.result) + " computed of";
    for (uint32_t input : plan.documents_program->inputs)
      text += " " + plan.inputs[input]->name;
    return text;
  }

  std::string kernelText(const plan::KernelT &kernel) const {
    if (!isForDevice(plan))
      return kernel.symbol;
    return kernel.symbol + "   threads " + std::to_string(kernel.threads) +
           "   shared " + sizeText(kernel.shared_bytes);
  }

  std::string view(const plan::ViewT &view) const {
    return plan::EnumNameSpace(view.space) + ("[" + expr(view.offset)) + "; " +
           std::to_string(view.bytes) + "]";
  }

  std::string rows(const plan::RowsT &rows) const {
    return expr(rows.owner) + " of layout " + std::to_string(rows.layout);
  }

  std::string factor(uint32_t number) const {
    return plan.factors[number]->name;
  }

  static std::string numbers(const std::vector<int64_t> &values) {
    std::string joined;
    for (int64_t value : values)
      joined += (joined.empty() ? "" : ",") + std::to_string(value);
    return joined;
  }

  void head() {
    text = "mesh";
    for (const auto &factor : plan.factors)
      text += std::string(factor->is_part ? " with " : " ") + factor->name +
              "=" + std::to_string(factor->size);
    text += "   ranks " + std::to_string(plan.ranks) + "   arena " +
            sizeText(plan.arena_bytes) + "   scratch " +
            sizeText(plan.scratch_bytes) + "   constants " +
            sizeText(plan.constant_bytes) +
            (plan.far_bytes > 0 ? "   far " + sizeText(plan.far_bytes) : "") +
            "   events " + std::to_string(plan.events) +
            (isForDevice(plan)
                 ? std::string("   target ") + plan::EnumNameTarget(plan.target)
                 : "") +
            "\n";
    for (uint32_t number : plan.processes)
      text += (number == plan.processes.front() ? "processes " : " ") +
              factor(number);
    if (!plan.processes.empty())
      text += "\n";
    for (const std::string &feature : plan.features)
      text +=
          (&feature == &plan.features.front() ? "features " : ", ") + feature;
    if (!plan.features.empty())
      text += "\n";
  }

  void parameter(const char *kind, const plan::ParameterT &parameter) {
    std::string shape, dealt;
    for (size_t d = 0; d < parameter.dims.size(); ++d) {
      int64_t size = 1;
      for (const auto &atom : parameter.dims[d]->atoms) {
        size *= atom->size;
        if (atom->layout >= 0)
          dealt += ", dim " + std::to_string(d) + " by layout " +
                   std::to_string(atom->layout) + " of owner " +
                   expr(atom->owner);
      }
      shape += std::to_string(size) + "x";
    }
    text += std::string(kind) + " " + parameter.name + ": " + shape +
            plan::EnumNameDType(parameter.type) + dealt + "   at " +
            view(*parameter.view);
    if (parameter.donated_to >= 0)
      text += "   donated to result " + std::to_string(parameter.donated_to);
    text += "\n";
  }

  void commands(const List<plan::CommandT> &list, size_t depth) {
    for (const auto &command : list)
      line(*command, depth);
  }

  void label(const char *title, size_t depth) {
    text += std::string(6 + 2 * depth, ' ') + title + "\n";
  }

  void line(const plan::CommandT &command, size_t depth) {
    char number[16];
    std::snprintf(number, sizeof number, "%4" PRId64 "  ", next++);
    text += number + std::string(2 * depth, ' ') + operation(command.operation);
    if (!command.name.empty())
      text += "   \"" + command.name + "\"";
    if (command.row)
      text += "   of row " + expr(command.row);
    if (command.when)
      text += "   if " + expr(command.when);
    for (uint32_t event : command.waits)
      text += (event == command.waits.front() ? "   after e" : ", e") +
              std::to_string(event);
    if (command.stream != plan::Stream::compute)
      text += std::string("   stream ") + plan::EnumNameStream(command.stream);
    if (command.records >= 0)
      text += "   -> e" + std::to_string(command.records);
    text += "\n";
    body(command.operation, depth);
  }

  void body(const plan::OperationUnion &operation, size_t depth) {
    if (const plan::LoopT *loop = operation.AsLoop()) {
      ++counters;
      commands(loop->body, depth + 1);
      --counters;
    } else if (const plan::WhileT *loop = operation.AsWhile()) {
      commands(loop->condition, depth + 1);
      label("do", depth);
      commands(loop->body, depth + 1);
    } else if (const plan::CaseT *choice = operation.AsCase()) {
      for (size_t i = 0; i < choice->branches.size(); ++i) {
        label(("branch " + std::to_string(i)).c_str(), depth);
        commands(choice->branches[i]->body, depth + 1);
      }
    }
  }

  std::string operation(const plan::OperationUnion &operation) const;
  std::string attend(const plan::AttendT &attend) const;
  std::string attendBackward(const plan::AttendBackwardT &backward) const;
  template <typename TableT>
  std::string queryHeads(const TableT &attend) const {
    return "   heads " + expr(attend.head_first) + "+" + expr(attend.heads) +
           "/" + std::to_string(attend.heads_total);
  }
  std::string terms(const char *name,
                    const List<plan::ScoreTermT> &terms) const {
    std::string text;
    for (const auto &term : terms)
      text += std::string(" ") + name + "=" + view(*term->view);
    return text;
  }
  std::string moved(const List<plan::MovedT> &values, const char *word) const;
  std::string blocks(const char *verb, const List<plan::BlockT> &blocks) const;

  const plan::PlanT &plan;
  std::string text;
  int64_t next = 0;
  size_t counters = 0;
};

std::string needs(const plan::NeedsT &needs) {
  std::string within = "where needed within " + std::to_string(needs.hops) +
                       (needs.hops == 1 ? " hop" : " hops") +
                       (needs.step < 0 ? " back" : "");
  return "   " + (needs.straight ? "rows seen" : within) + " by" +
         maskText(needs.bands, needs.documents);
}

std::string Printer::attend(const plan::AttendT &attend) const {
  std::string line = "attend " + plan.kernels[attend.kernel]->symbol +
                     " q=" + view(*attend.q) + " k=" + view(*attend.k) +
                     " v=" + view(*attend.v) + " o=" + view(*attend.out) +
                     " lse=" + view(*attend.lse) + "   rows " +
                     rows(*attend.queries) + "   keys " + rows(*attend.keys) +
                     queryHeads(attend) + " kv " + expr(attend.kv_first) + "/" +
                     std::to_string(attend.kv_total) + "   bands" +
                     maskText(attend.bands, attend.documents);
  if (isForDevice(plan))
    line += "   blocks " + std::to_string(attend.query_block) + "x" +
            std::to_string(attend.key_block);
  if (attend.portable)
    line += " or " + plan.kernels[attend.portable->kernel]->symbol + " " +
            std::to_string(attend.portable->query_block) + "x0";
  if (attend.order != plan::BlockOrder::heaviestFirst)
    line += std::string("   ") + plan::EnumNameBlockOrder(attend.order);
  return line + terms("term", attend.terms) + (attend.init ? "   init" : "");
}

std::string
Printer::attendBackward(const plan::AttendBackwardT &backward) const {
  return "attend_backward " + plan.kernels[backward.kernel]->symbol +
         " q=" + view(*backward.q) + " k=" + view(*backward.k) +
         " v=" + view(*backward.v) + " do=" + view(*backward.d_out) +
         " lse=" + view(*backward.lse) + " delta=" + view(*backward.delta) +
         " dq=" + view(*backward.dq) + " dk=" + view(*backward.dk) +
         " dv=" + view(*backward.dv) + "   rows " + rows(*backward.queries) +
         "   keys " + rows(*backward.keys) + queryHeads(backward) + " kv " +
         expr(backward.kv_first) + "+" + expr(backward.kv_heads) + "/" +
         std::to_string(backward.kv_total) + "   bands" +
         maskText(backward.bands, backward.documents) +
         terms("term", backward.terms) +
         terms("d_term", backward.term_gradients) +
         (backward.init_queries ? "   init queries" : "") +
         (backward.init_keys ? "   init keys" : "");
}

std::string Printer::blocks(const char *verb,
                            const List<plan::BlockT> &list) const {
  std::string line;
  for (const auto &block : list)
    line += std::string("   ") + verb + " " + view(*block->strided->view) +
            " rows " + rows(*block->rows) + " heads " + expr(block->heads) +
            " of " + std::to_string(block->strided->inner_bytes) + " B";
  return line;
}

/// A layout stands behind the last of neighbours that it deals.
std::string Printer::moved(const List<plan::MovedT> &values,
                           const char *word) const {
  std::string line;
  for (size_t i = 0; i < values.size(); ++i) {
    const plan::MovedT &value = *values[i];
    line += (i == 0 ? "" : ", ") + view(*value.source->view) + " to " +
            view(*value.target->view);
    if (i + 1 == values.size() || values[i + 1]->layout != value.layout)
      line += std::string("   rows ") + word + " layout " +
              std::to_string(value.layout);
  }
  return line;
}

std::string Printer::operation(const plan::OperationUnion &operation) const {
  using plan::Operation;
  switch (operation.type) {
  case Operation::Launch: {
    const plan::LaunchT &launch = *operation.AsLaunch();
    std::string line = "launch " + plan.kernels[launch.kernel]->symbol;
    for (const auto &buffer : launch.buffers)
      line += " " + view(*buffer);
    return line + "   tiles " + std::to_string(launch.tiles);
  }
  case Operation::Attend:
    return attend(*operation.AsAttend());
  case Operation::AttendBackward:
    return attendBackward(*operation.AsAttendBackward());
  case Operation::Gemm: {
    const plan::GemmT &gemm = *operation.AsGemm();
    return std::string("gemm ") + plan::EnumNameDType(gemm.type) + "->" +
           plan::EnumNameDType(gemm.out_type) + " " +
           std::to_string(gemm.batch) + "x" + std::to_string(gemm.m) + "x" +
           std::to_string(gemm.n) + "x" + std::to_string(gemm.k) +
           " a=" + view(*gemm.a) + " (" + numbers(gemm.a_strides) +
           ") b=" + view(*gemm.b) + " (" + numbers(gemm.b_strides) +
           (gemm.onto ? ") c+=" : ") c=") + view(*gemm.c) + " (" +
           numbers(gemm.c_strides) + ")" +
           (gemm.bias ? " bias=" + view(*gemm.bias) : "") +
           (gemm.activation == plan::Activation::none
                ? ""
                : std::string(" then ") +
                      plan::EnumNameActivation(gemm.activation));
  }
  case Operation::SendRecv: {
    const plan::SendRecvT &transfer = *operation.AsSendRecv();
    return "send_recv to " + expr(transfer.to) + " from " +
           expr(transfer.from) + blocks("send", transfer.sends) +
           blocks("recv", transfer.receives) +
           (transfer.needs ? needs(*transfer.needs) : "");
  }
  case Operation::Exchange: {
    const plan::ExchangeT &exchange = *operation.AsExchange();
    if (exchange.direction == plan::Direction::rowsToRows)
      return "redeal along " + factor(exchange.factor) + " " +
             moved(exchange.values, "of") + " by layout " +
             std::to_string(exchange.onto) + ", by " +
             std::to_string(exchange.by);
    bool isGather = exchange.head_layout < 0,
         toHeads = exchange.direction == plan::Direction::rowsToHeads;
    return std::string(isGather ? "all_gather" : "all_to_all") + " along " +
           factor(exchange.factor) +
           (toHeads ? " rows to heads " : " heads to rows ") +
           moved(exchange.values, "by") +
           (exchange.owner ? ", parts of owner " + expr(exchange.owner) : "") +
           ", " + std::to_string(exchange.head_count) + " heads" +
           (isGather ? ""
                     : " by layout " + std::to_string(exchange.head_layout));
  }
  case Operation::AllReduce: {
    const plan::AllReduceT &reduce = *operation.AsAllReduce();
    std::string text = std::string("all_reduce ") +
                       plan::EnumNameReduction(reduce.kind) + " " +
                       plan::EnumNameDType(reduce.type) + " along ";
    for (size_t i = 0; i < reduce.factors.size(); ++i)
      text += (i == 0 ? "" : ", ") + factor(reduce.factors[i]);
    for (const auto &each : reduce.views)
      text += " " + view(*each);
    return text;
  }
  case Operation::ReduceScatter: {
    const plan::ReduceScatterT &reduce = *operation.AsReduceScatter();
    return std::string("reduce_scatter ") +
           plan::EnumNameReduction(reduce.kind) + " " +
           plan::EnumNameDType(reduce.type) + " along " +
           factor(reduce.factor) + " " + moved(reduce.values, "by");
  }
  case Operation::Copy:
    return "copy " + view(*operation.AsCopy()->source) + " to " +
           view(*operation.AsCopy()->target);
  case Operation::Fill:
    return "fill " + view(*operation.AsFill()->target) + " with " +
           std::to_string(operation.AsFill()->value);
  case Operation::RowsTable: {
    const plan::RowsTableT &table = *operation.AsRowsTable();
    return std::string(plan::EnumNameRowsQuery(table.query)) + " of rows " +
           rows(*table.rows) + " to " + view(*table.target) + " as " +
           plan::EnumNameDType(table.type);
  }
  case Operation::Loop:
    return "loop " + counterName(counters) + " in " +
           expr(operation.AsLoop()->lower) + ".." +
           expr(operation.AsLoop()->upper);
  case Operation::While:
    return "while " + view(*operation.AsWhile()->predicate);
  case Operation::Case:
    return "case " + view(*operation.AsCase()->index);
  case Operation::Sync:
    return "sync";
  case Operation::NONE:
    break;
  }
  return "nothing";
}

} // namespace

std::string planText(const plan::PlanT &plan) { return Printer(plan).print(); }

} // namespace sprt
