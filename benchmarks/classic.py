"""Six algorithms on craftax-classic at laptop size: train, judge, print a table, draw the curves.

Run: python benchmarks/classic.py FOLDER [--seeds 0 1] [--steps N] [--figure FILE]
Stopped at any moment, the same command goes on where it was.
"""

from compare import Comparison, main

from allgoals.algorithms import DISCRETE

CLASSIC = Comparison(
    task="craftax-classic",
    subjects={name: [name] for name in DISCRETE if name != "naive_all_goals"},
    rows={
        "all 136 goals": ".*",
        "sapling in hand: 1": "inventory/sapling_1",
        "sapling in hand: 2": "inventory/sapling_2",
        "sapling in hand: 3": "inventory/sapling_3",
        "plant beside (mean of 4 sides)": "block_map/PLANT_.*",
        "tree beside (4)": "block_map/TREE_.*",
        "wood in hand: 1": "inventory/wood_1",
        "wood in hand: 2": "inventory/wood_2",
        "wood in hand: 3": "inventory/wood_3",
        "wood in hand: 5": "inventory/wood_5",
        "table beside (4)": "block_map/CRAFTING_TABLE_.*",
        "wood pickaxe or sword (2)": "tools/wood_.*",
        "stone in hand: 1": "inventory/stone_1",
        "water beside (4)": "block_map/WATER_.*",
        "cow beside (4)": "mob_map/cow_.*",
    },
    max_steps=512,
    label="success, mean over 136 goals",
)

if __name__ == "__main__":
    main(CLASSIC, __doc__)
