"""Who does what after what, without a clock: operations, what proves them right, and the collectives made of them."""
