// Flows that share links in SimGrid (S4U): what benchmarks/flows.py and validation/flows.py hold hopline against.
//
// Reads from standard input: HOSTS LINKS FLOWS; of each link its byte/s and its latency in s; of each flow its sender, its
// receiver, its bytes, how many links it goes over, and their numbers. No two flows have the same sender and receiver, a link
// is shared by all that goes over it, and all flows begin at 0. Each host is an actor that sends all its flows at once.
//
// Usage: simgrid_flows [Full|Lazy] < FILE: how network/optim is set (Full). Prints when each flow ended, in s, then when the last
// one did.
#include <cstdio>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

struct Flow {
  int sender, receiver;
  double bytes;
};

static std::vector<sg4::Host*> hosts;
static std::vector<Flow> flows;
static std::vector<std::vector<size_t>> sent;
static std::vector<double> ends;

static void sends(int host)
{
  std::vector<sg4::CommPtr> comms;
  for (size_t i : sent[host])
    comms.push_back(sg4::Comm::sendto_async(hosts[flows[i].sender], hosts[flows[i].receiver], flows[i].bytes));
  sg4::Comm::wait_all(comms);
  for (size_t i = 0; i < comms.size(); i++)
    ends[sent[host][i]] = comms[i]->get_finish_time();
}

static bool build(sg4::NetZone* zone)
{
  int host_count, link_count, flow_count;
  if (std::scanf("%d %d %d", &host_count, &link_count, &flow_count) != 3)
    return false;
  for (int i = 0; i < host_count; i++)
    hosts.push_back(zone->create_host("host" + std::to_string(i), 1e9)->seal());
  sent.resize(host_count);
  std::vector<sg4::Link*> links;
  double capacity, latency;
  for (int i = 0; i < link_count && std::scanf("%lf %lf", &capacity, &latency) == 2; i++)
    links.push_back(zone->create_link("link" + std::to_string(i), capacity)->set_latency(latency)->seal());
  for (int i = 0; i < flow_count; i++) {
    Flow flow;
    int length, number;
    if (std::scanf("%d %d %lf %d", &flow.sender, &flow.receiver, &flow.bytes, &length) != 4)
      return false;
    std::vector<sg4::LinkInRoute> way;
    for (int j = 0; j < length && std::scanf("%d", &number) == 1; j++)
      way.emplace_back(links.at(number));
    zone->add_route(hosts[flow.sender]->get_netpoint(), hosts[flow.receiver]->get_netpoint(), nullptr, nullptr, way, false);
    sent[flow.sender].push_back(flows.size());
    flows.push_back(flow);
  }
  ends.resize(flows.size());
  return true;
}

int main(int argc, char* argv[])
{
  sg4::Engine engine(&argc, argv);
  sg4::Engine::set_config("network/model:CM02");
  sg4::Engine::set_config("network/crosstraffic:0");
  sg4::Engine::set_config("network/TCP-gamma:0");
  sg4::Engine::set_config(std::string("network/optim:") + (argc > 1 ? argv[1] : "Full"));
  auto* zone = sg4::create_full_zone("flows");
  if (!build(zone)) {
    std::fprintf(stderr, "usage: simgrid_flows < FILE: HOSTS LINKS FLOWS, then links, then flows\n");
    return 2;
  }
  zone->seal();
  for (size_t i = 0; i < hosts.size(); i++)
    sg4::Actor::create("host" + std::to_string(i), hosts[i], sends, i);
  engine.run();
  for (double end : ends)
    std::printf("%.12g\n", end);
  std::printf("%.12g\n", sg4::Engine::get_clock());
}
