"""One message from a sender through relays to a receiver, over TCP: how forwarding looks in reality."""
