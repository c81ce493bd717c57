"""Everything that produces the weights: synthesis, features, model, loss, training and export."""
