"""Predict by formula, without a clock. Arrays in, arrays out; ``p2p`` puts the answers into Estimates."""
