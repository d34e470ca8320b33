"""From a component to something that runs: emit its graph, bind its weights, load it."""
