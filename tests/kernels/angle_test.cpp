#include "kernels/angle.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace pteron {
namespace {

// Computed with 1,400 bits of pi.
TEST(Angle, IsThatOfLargeNumbers) {
  const struct {
    double x;
    double cosine;
  } cases[] = {{65537.0, -0.97236197935359758},
               {1000000000.0, 0.83788718136390239},
               {4503599627370497.0, -0.99796410319531714},
               {1.8014398509481984e+16, -0.44135058747298572},
               {9.223372036854776e+18, 0.011800076512800236},
               {1e+22, 0.52321478539513899},
               {3.4028234663852886e+38, 0.8530210398303042},
               {1.7976931348623157e+308, -0.99998768942655991}};
  for (const auto& [x, cosine] : cases) {
    EXPECT_NEAR(std::cos(reduce_angle(x)), cosine, 1e-15) << x;
    EXPECT_NEAR(std::cos(reduce_angle(-x)), cosine, 1e-15) << x;
    EXPECT_EQ(reduce_angle(-x), -reduce_angle(x)) << x;
  }
}

TEST(Angle, IsAsTheCLibrarysWhereThatIsRight) {
  std::minstd_rand random(1);
  std::uniform_real_distribution<double> exponents(0, 16);
  for (int i = 0; i < 10000; ++i) {
    const double x = std::exp2(exponents(random));
    EXPECT_NEAR(std::sin(reduce_angle(x)), std::sin(x), 2e-15) << x;
    EXPECT_LE(std::fabs(reduce_angle(x)), 3.1415926535897936) << x;
  }
}

TEST(Angle, IsNoNumberOfWhatIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double x : {infinity, -infinity, std::nan("")}) {
    EXPECT_TRUE(std::isnan(reduce_angle(x)));
    EXPECT_TRUE(std::isnan(of_angle(x, [](double a) { return std::cos(a); })));
  }
}

TEST(Angle, GivesTheSystemsOwnFunctionsOfAnyNumber) {
  const auto cosine = [](auto a) { return std::cos(a); };
  EXPECT_NEAR(of_angle(9223372036854775808.0, cosine), 0.011800076512800236, 1e-15);
  EXPECT_NEAR(of_angle(9223372036854775808.0F, cosine), 0.0118000768F, 1e-8);
  EXPECT_EQ(of_angle(0.0F, cosine), 1.0F);
}

}  // namespace
}  // namespace pteron
