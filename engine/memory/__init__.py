"""How a job uses memory: `plan` decides before it starts, `working_copy` trades disk for it."""
