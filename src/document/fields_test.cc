#include "document/fields.h"

#include <gtest/gtest.h>

#include "document/fields_sample.h"

namespace wheelsmith {

namespace {

enum class Colour : std::uint8_t { red, green };

struct Point {
  int x = 0;
  double y = 0;
};

struct Circle {
  static constexpr std::string_view kind = "circle";
  Point centre;
};

struct Line {
  static constexpr std::string_view kind = "line";
  std::vector<Point> points;
};

struct Drawing {
  std::string name;
  std::filesystem::path file;
  bool closed = false;
  Colour colour = Colour::red;
  std::optional<std::vector<std::string>> tags;
  std::map<std::string, Point> anchors;
  std::vector<std::pair<std::string, std::string>> notes;
  std::vector<std::variant<Circle, Line>> shapes;
};

}  // namespace

template <>
struct EnumNames<Colour> {
  static constexpr std::array list = {"red", "green"};
};

namespace document {

template <>
struct Fields<Point> {
  static constexpr auto list = fields_of<Point>(field("x", &Point::x), field("y", &Point::y));
};
template <>
struct Fields<Circle> {
  static constexpr auto list = fields_of<Circle>(field("centre", &Circle::centre));
};
template <>
struct Fields<Line> {
  static constexpr auto list = fields_of<Line>(field("points", &Line::points));
};
template <>
struct Fields<Drawing> {
  static constexpr auto list = fields_of<Drawing>(field("name", &Drawing::name), field("file", &Drawing::file),
                                                  field("closed", &Drawing::closed), field("colour", &Drawing::colour),
                                                  field("tags", &Drawing::tags), field("anchors", &Drawing::anchors),
                                                  field("notes", &Drawing::notes), field("shapes", &Drawing::shapes));
};

TEST(Fields, AreCounted) {
  EXPECT_EQ(member_count<Point>(), 2u);
  EXPECT_EQ(member_count<Drawing>(), 8u);
}

TEST(Fields, AreWrittenByName) {
  Drawing drawing;
  drawing.name = "a";
  drawing.colour = Colour::green;
  drawing.shapes = {Circle{{1, 2.5}}, Line{{{3, 4}}}};
  EXPECT_EQ(to_json(to_document(drawing), -1),
            R"({"name":"a","file":"","closed":false,"colour":"green","anchors":{},"notes":[],)"
            R"("shapes":[{"centre":{"x":1,"y":2.5},"kind":"circle"},{"points":[{"x":3,"y":4.0}],"kind":"line"}]})");
}

TEST(Fields, SurviveTheRoundTripThroughText) {
  const Drawing sample = Sampler().make<Drawing>();
  const std::string text = to_json(to_document(sample));
  const Drawing read = from_document<Drawing>(parse_json(text, "text"), "drawing");
  EXPECT_EQ(to_json(to_document(read)), text);
  EXPECT_FALSE(same_document(sample, Drawing()));
}

TEST(Fields, SamplesDifferInEveryMember) {
  const Drawing sample = Sampler().make<Drawing>();
  for_each_field(sample, [&]<class Member>(std::string_view name, const Member& member) {
    EXPECT_NE(to_json(to_document(member)), to_json(to_document(Member()))) << name;
  });
}

TEST(Fields, ThatAreAbsentOrOfAnotherKindAreErrors) {
  const auto read = [](const char* text) {
    try {
      (void)from_document<Line>(parse_json(text, "text"), "line");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("read");
  };
  EXPECT_EQ(read(R"({"points":[]})"), "read");
  EXPECT_EQ(read(R"({})"), "line.points: expected a list, found nothing");
  EXPECT_EQ(read(R"({"points":[{"x":1,"y":2},{"x":"1"}]})"), "line.points[1].x: expected an integer, found a string");
  EXPECT_EQ(read(R"([])"), "line: expected a table, found a list");
}

TEST(Fields, NamesOfEnumsAreChecked) {
  EXPECT_EQ(from_document<Colour>(Value("green"), "c"), Colour::green);
  EXPECT_THROW((void)from_document<Colour>(Value("blue"), "c"), Error);
  EXPECT_THROW((void)(from_document<std::variant<Circle, Line>>(parse_json(R"({"kind":"dot"})", "x"), "shape")), Error);
}

}  // namespace document

}  // namespace wheelsmith
