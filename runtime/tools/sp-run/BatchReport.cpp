#include "BatchReport.h"

#include "sprt/documents.h"

#include <nlohmann/json.hpp>

using Json = nlohmann::ordered_json;

namespace {

/// Pieces of all ranks, which come rank by rank.
std::vector<Json> piecesOf(const sprt_session *session, int64_t ranks) {
  const sprt_batch_piece *pieces = nullptr;
  int64_t count = 0;
  std::vector<Json> ofRank(static_cast<size_t>(ranks), Json::array());
  if (failed(sprt_session_pieces(session, &pieces, &count)))
    return {};
  for (int64_t i = 0; i < count; ++i)
    ofRank[static_cast<size_t>(pieces[i].rank)].push_back(
        {{"microBatch", pieces[i].micro_batch},
         {"document", pieces[i].document},
         {"begin", pieces[i].begin},
         {"end", pieces[i].end}});
  return ofRank;
}

} // namespace

bool BatchReport::add(const sprt_program *program,
                      const sprt_session *session) {
  int64_t ranks = sprt_program_ranks(program);
  sprt_documents documents = {sizeof documents, 0, 0, 0};
  std::vector<sprt_prediction> promised(
      static_cast<size_t>(ranks),
      {sizeof(sprt_prediction), 0, 0, 0, 0, 0, 0, 0, 0});
  std::vector<Json> pieces = piecesOf(session, ranks);
  if (pieces.empty() || failed(sprt_session_documents(session, &documents)) ||
      failed(sprt_session_predict(session, ranks, promised.data())))
    return false;
  Json all = Json::array();
  for (int64_t rank = 0; rank < ranks; ++rank) {
    auto number = static_cast<size_t>(rank);
    sprt_rank_statistics statistics = {};
    statistics.size = sizeof statistics;
    if (failed(sprt_session_rank_statistics(session, rank, &statistics)))
      return false;
    all.push_back({{"rank", rank},
                   {"pieces", pieces[number]},
                   {"promisedBytesSent", promised[number].bytes_sent},
                   {"bytesSent", statistics.bytes_sent},
                   {"promisedFlops", promised[number].flops},
                   {"busySeconds", statistics.busy_seconds},
                   {"seconds", statistics.seconds}});
  }
  Json line = {{"step", ++steps},
               {"documents", documents.count},
               {"skipped", documents.skipped != 0},
               {"dealt", documents.dealt != 0},
               {"ranks", all}};
  lines += line.dump() + "\n";
  return true;
}

bool BatchReport::write(const std::string &path) const {
  return !failed(sprt_file_write(path.c_str(), lines.data(), lines.size()));
}
