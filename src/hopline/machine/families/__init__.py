"""Machines by a formula: fat trees, rails, tori, dragonflies, supernodes."""
