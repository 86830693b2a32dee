#include "planner/Packing.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <tuple>

namespace sprt {

namespace {

/// Micro-batches of a rank by their room.
class RankRooms {
public:
  RankRooms(const Assignment &assignment, int64_t rank, int64_t limit)
      : mayOpen(limit - assignment.count(rank)), next(assignment.count(rank)),
        capacity(assignment.options().capacity) {
    for (int64_t i = 0; i < next; ++i)
      rooms.insert({assignment.room(rank, i), i});
  }

  int64_t largest() const {
    if (mayOpen > 0)
      return capacity;
    return rooms.empty() ? 0 : rooms.rbegin()->first;
  }

  /// Takes tokens, which is no more than the largest room, from the fullest
  /// micro-batch, and says which.
  int64_t take(int64_t tokens) {
    auto place = rooms.lower_bound({tokens, 0});
    if (place == rooms.end()) {
      --mayOpen;
      rooms.insert({capacity - tokens, next});
      return next++;
    }
    // The node of what has changed is used again.
    auto node = rooms.extract(place);
    node.value().first -= tokens;
    int64_t microBatch = node.value().second;
    rooms.insert(std::move(node));
    return microBatch;
  }

private:
  std::set<std::pair<int64_t, int64_t>> rooms;
  int64_t mayOpen;
  int64_t next;
  int64_t capacity;
};

template <typename T>
using LeastFirst = std::priority_queue<T, std::vector<T>, std::greater<T>>;

} // namespace

const BatchDocument *packEvenly(const BatchDocuments &documents,
                                Assignment &assignment, int64_t microBatches) {
  int64_t ranks = assignment.options().ranks;
  std::vector<RankRooms> rooms;
  // Ranks by load, tokens and number; some do not have the room.
  using Loaded = std::tuple<int64_t, int64_t, int64_t>;
  std::vector<Loaded> all;
  auto loaded = [&](int64_t rank) {
    return Loaded(assignment.load(rank), assignment.tokens(rank), rank);
  };
  for (int64_t rank = 0; rank < ranks; ++rank) {
    rooms.emplace_back(assignment, rank, microBatches);
    all.push_back(loaded(rank));
  }
  LeastFirst<Loaded> open(std::greater<Loaded>(), std::move(all));
  // Those that had none for longer documents, most room first.
  std::priority_queue<std::pair<int64_t, int64_t>> closed;

  for (const BatchDocument &document : documents) {
    while (!closed.empty() && closed.top().first >= document.length) {
      open.push(loaded(closed.top().second));
      closed.pop();
    }
    int64_t rank = -1;
    while (rank < 0 && !open.empty()) {
      int64_t least = std::get<2>(open.top());
      open.pop();
      int64_t room = rooms[size_t(least)].largest();
      if (room >= document.length)
        rank = least;
      else
        closed.push({room, least});
    }
    if (rank < 0)
      return &document;
    assignment.giveWhole(document, rank,
                         rooms[size_t(rank)].take(document.length));
    open.push(loaded(rank));
  }
  return nullptr;
}

const BatchDocument *packTightly(const BatchDocuments &documents,
                                 Assignment &assignment, int64_t microBatches) {
  int64_t ranks = assignment.options().ranks;
  // Room, rank and micro-batch.
  std::set<std::tuple<int64_t, int64_t, int64_t>> rooms;
  LeastFirst<std::pair<int64_t, int64_t>> unopened; // micro-batch, rank
  for (int64_t rank = 0; rank < ranks; ++rank) {
    for (int64_t i = 0; i < assignment.count(rank); ++i)
      rooms.insert({assignment.room(rank, i), rank, i});
    unopened.push({assignment.count(rank), rank});
  }
  for (const BatchDocument &document : documents) {
    auto place = rooms.lower_bound({document.length, 0, 0});
    if (place == rooms.end()) {
      auto [microBatch, rank] = unopened.top();
      if (microBatch >= microBatches)
        return &document;
      unopened.pop();
      unopened.push({microBatch + 1, rank});
      place =
          rooms.insert({assignment.options().capacity, rank, microBatch}).first;
    }
    auto [room, rank, microBatch] = *place;
    rooms.erase(place);
    rooms.insert({room - document.length, rank, microBatch});
    assignment.giveWhole(document, rank, microBatch);
  }
  return nullptr;
}

} // namespace sprt
