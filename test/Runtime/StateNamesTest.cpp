// What checkpoints call arrays, from what JAX calls them.

#include "program/StateNames.h"

#include "PlanBuilder.h"

#include <gtest/gtest.h>

namespace sprt::test {
namespace {

using Names = std::vector<std::string>;

Names named(const Names &names) {
  std::vector<StateInput> inputs;
  for (const std::string &name : names)
    inputs.push_back({static_cast<int64_t>(inputs.size()), name});
  return nameState(inputs);
}

TEST(StateNames, arePathsWithoutQuotesAndTheOnlyArgument) {
  EXPECT_EQ(named({"state['weights'][0]['qkv']", "state.mu[<flat index 3>]"}),
            (Names{"weights.0.qkv", "mu.3"}));
  EXPECT_EQ(named({"weights['w']", "moments['w']", "count"}),
            (Names{"weights.w", "moments.w", "count"}));
  EXPECT_EQ(named({"state"}), (Names{"state"}));
}

TEST(StateNames, haveKeysThatAreNoStringsAsTheyArePrinted) {
  EXPECT_EQ(named({"s[(1, 2)]", "s[('a]', [3])][-1]", "s[1.5]", "s[True]",
                   "s[b'x']", "s[<Color.RED: 1>]"}),
            (Names{"(1, 2)", "('a]', [3]).-1", "1.5", "True", "b'x'",
                   "<Color.RED: 1>"}));
}

TEST(StateNames, haveCharactersInPlaceOfEscapes) {
  EXPECT_EQ(named({R"(s['\x07\xe9'])", R"(s['\u200b'])", R"(s['\U0001f600'])",
                   R"(s['a\n\t\r\\\''])", R"(s["it's"])"}),
            (Names{"\x07\xc3\xa9", "\xe2\x80\x8b", "\xf0\x9f\x98\x80",
                   "a\n\t\r\\'", "it's"}));
  // What is no character is left as it is written.
  for (const char *name : {R"(s['\x00'])", R"(s['\ud800'])", R"(s['\xg0'])",
                           R"(s['\x1'])", R"(s['\q'])", R"(s['\)", "s['", "s["})
    EXPECT_EQ(named({name}), Names{name});
}

TEST(StateNames, areWholeWhereTwoWouldBeAlike) {
  EXPECT_EQ(named({"s['a']['b']", "s['a.b']", "s['c']"}),
            (Names{"s['a']['b']", "s['a.b']", "c"}));
  // A key may be spelled as the whole name of another.
  EXPECT_EQ(named({"s['x']['y']", "s['x.y']", R"(s["s['x.y']"])"}),
            (Names{"s['x']['y']", "s['x.y']", R"(s["s['x.y']"])"}));
  EXPECT_EQ(named({"s['']", "s['a']"}), (Names{"s", "a"}));
  EXPECT_EQ(named({"s", "s['s']"}), (Names{"s", "s['s']"}));
}

TEST(StateNames, areNumbersWhereTheProgramHasNone) {
  EXPECT_EQ(named({"", ""}), (Names{"arg0", "arg1"}));
  EXPECT_EQ(named({"x", "x"}), (Names{"arg0", "arg1"}));
  EXPECT_EQ(named({"\xff", std::string("a\0b", 3)}), (Names{"arg0", "arg1"}));
}

TEST(StateNames, areNotWhatTheHeaderNeeds) {
  EXPECT_EQ(named({"s['__metadata__']", "s['w']"}),
            (Names{"s['__metadata__']", "w"}));
  EXPECT_EQ(named({"__metadata__"}), (Names{"arg0"}));
}

TEST(StateNames, areAskedOfASession) {
  PlanBuilder builder(1);
  int64_t at = builder.arena(16);
  builder.input("batch", plan::DType::f32, {{2}}, at);
  builder.input("state['w']", plan::DType::f32, {{2}}, at + 8);
  builder.result("new", plan::DType::f32, {{2}}, at);
  builder.add(plan::SyncT());
  Runner runner(builder);
  ASSERT_EQ(runner.open(runner.options), "");
  std::vector<const char *> names(2, "none");
  auto ask = [&](int64_t count) {
    return take(sprt_session_state_names(runner.session, names.data(), count));
  };
  EXPECT_EQ(ask(2), "");
  EXPECT_EQ(names, (std::vector<const char *>{nullptr, nullptr}));
  EXPECT_EQ(take(sprt_session_feed(runner.session, 0, 1)), "");
  EXPECT_EQ(ask(2), "");
  EXPECT_EQ(names[0], nullptr);
  EXPECT_STREQ(names[1], "w");
  EXPECT_EQ(ask(1), "expected places for 2 names but got 1");
}

} // namespace
} // namespace sprt::test
