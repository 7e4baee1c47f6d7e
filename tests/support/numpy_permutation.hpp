// SPDX-License-Identifier: Apache-2.0
// numpy.random.default_rng(seed).permutation(n), index by index: SeedSequence → PCG64 → Fisher–Yates with
// masked bounded integers.  The split of tests/golden/table12_test.cpp is made with it.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace support {

/// NumPy's SeedSequence for one entropy word: a pool of four hashed words, drawn from by a second hash.
class NumpySeedSequence {
 public:
  explicit NumpySeedSequence(std::uint32_t seed) {
    std::uint32_t constant = 0x43b0d7e5U;
    const auto hash = [&constant](std::uint32_t value) {
      value ^= constant;
      constant *= 0x931e8875U;
      value *= constant;
      return value ^ (value >> 16);
    };
    for (std::size_t i = 0; i < pool_.size(); ++i) pool_[i] = hash(i == 0 ? seed : 0);
    for (std::size_t from = 0; from < pool_.size(); ++from) {
      for (std::size_t to = 0; to < pool_.size(); ++to) {
        if (from == to) continue;
        const std::uint32_t mixed = 0xca01f9ddU * pool_[to] - 0x4973f715U * hash(pool_[from]);
        pool_[to] = mixed ^ (mixed >> 16);
      }
    }
  }

  /// Four 64-bit words, the low half first.
  std::array<std::uint64_t, 4> state() const {
    std::uint32_t constant = 0x8b51f9ddU;
    std::array<std::uint64_t, 4> words{};
    for (std::size_t i = 0; i < 8; ++i) {
      std::uint32_t value = pool_[i % pool_.size()] ^ constant;
      constant *= 0x58f38dedU;
      value *= constant;
      value ^= value >> 16;
      words[i / 2] |= static_cast<std::uint64_t>(value) << (32 * (i % 2));
    }
    return words;
  }

 private:
  std::array<std::uint32_t, 4> pool_{};
};

/// PCG64 (XSL-RR): a 128-bit linear congruence whose halves are folded and rotated.
class NumpyPcg64 {
 public:
  explicit NumpyPcg64(std::uint32_t seed) {
    const auto word = NumpySeedSequence(seed).state();
    increment_ = (join(word[2], word[3]) << 1) | 1;
    step();
    state_ += join(word[0], word[1]);
    step();
  }

  std::uint64_t next64() {
    step();
    const auto high = static_cast<std::uint64_t>(state_ >> 64), low = static_cast<std::uint64_t>(state_);
    const unsigned turn = static_cast<unsigned>(high >> 58);
    const std::uint64_t folded = high ^ low;
    return (folded >> turn) | (folded << ((64 - turn) % 64));
  }

  /// The low half of a word, then its high half.
  std::uint32_t next32() {
    if (half_is_left_) {
      half_is_left_ = false;
      return left_;
    }
    const std::uint64_t word = next64();
    half_is_left_ = true;
    left_ = static_cast<std::uint32_t>(word >> 32);
    return static_cast<std::uint32_t>(word);
  }

  /// Uniform in 0 … largest: low bits, drawn until they do not exceed it.
  std::uint32_t bounded(std::uint32_t largest) {
    const std::uint32_t mask = std::bit_ceil(largest + 1) - 1;
    std::uint32_t value = 0;
    do {
      value = next32() & mask;
    } while (value > largest);
    return value;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static Wide join(std::uint64_t high, std::uint64_t low) { return (static_cast<Wide>(high) << 64) | low; }
  void step() { state_ = state_ * join(2549297995355413924U, 4865540595714422341U) + increment_; }

  Wide state_ = 0, increment_ = 0;
  bool half_is_left_ = false;
  std::uint32_t left_ = 0;
};

inline std::vector<std::size_t> numpy_permutation(std::uint32_t seed, std::size_t n) {
  NumpyPcg64 generator(seed);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i-- > 1;)
    std::swap(order[i], order[generator.bounded(static_cast<std::uint32_t>(i))]);
  return order;
}

}  // namespace support
