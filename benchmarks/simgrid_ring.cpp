// A ring all-reduce in SimGrid (S4U), message by message: what benchmarks/simulate.py measures itself against.
//
// Hosts in a star, each with a link up and a link down of half the latency, so that a message takes latency + bytes / bandwidth.
// In every step a rank sends a piece to the next one and receives one from the one before at the same time.
//
// Usage: simgrid_ring RANKS BYTES LATENCY BANDWIDTH, in s and byte/s. Prints the simulated time in s.
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

static double piece(long bytes, long ranks, long number) { return bytes / ranks + (number < bytes % ranks ? 1 : 0); }

static void rank_main(long rank, long ranks, long bytes)
{
  sg4::Mailbox* mine  = sg4::Mailbox::by_name(std::to_string(rank));
  sg4::Mailbox* next  = sg4::Mailbox::by_name(std::to_string((rank + 1) % ranks));
  static char payload = 0;
  for (long step = 0; step < 2 * (ranks - 1); step++) {
    const long shift  = step < ranks - 1 ? step + 1 : step - (ranks - 1);
    const long number = ((rank - shift) % ranks + ranks) % ranks;
    char* arrived     = nullptr;
    sg4::CommPtr get  = mine->get_async<char>(&arrived);
    sg4::CommPtr put  = next->put_async(&payload, piece(bytes, ranks, number));
    put->wait();
    get->wait();
  }
}

int main(int argc, char* argv[])
{
  sg4::Engine engine(&argc, argv);
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s RANKS BYTES LATENCY BANDWIDTH\n", argv[0]);
    return 2;
  }
  const long ranks = std::atol(argv[1]), bytes = std::atol(argv[2]);
  const double latency = std::atof(argv[3]), bandwidth = std::atof(argv[4]);
  sg4::Engine::set_config("network/model:CM02");
  sg4::Engine::set_config("network/crosstraffic:0");
  sg4::Engine::set_config("network/TCP-gamma:0");
  auto* star = sg4::create_star_zone("star");
  std::vector<sg4::Host*> hosts;
  for (long rank = 0; rank < ranks; rank++) {
    auto* host = star->create_host("host" + std::to_string(rank), 1e9)->seal();
    auto* link = star->create_split_duplex_link("link" + std::to_string(rank), bandwidth)->set_latency(latency / 2)->seal();
    star->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {{link, sg4::LinkInRoute::Direction::UP}}, true);
    hosts.push_back(host);
  }
  star->seal();
  for (long rank = 0; rank < ranks; rank++)
    sg4::Actor::create("rank" + std::to_string(rank), hosts[rank], rank_main, rank, ranks, bytes);
  engine.run();
  std::printf("%.12g\n", sg4::Engine::get_clock());
}
