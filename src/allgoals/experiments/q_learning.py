"""The values that the sweeps over PQN and over LEO have in common."""

VALUES = {
    "algorithm.width": (256, 512, 1024),
    "algorithm.conv_features": (4, 8, 16, 32),
    "num_steps": (1, 2, 4, 8, 16, 32, 64),
    "algorithm.epsilon_start": (1.0, 0.5, 0.2, 0.1),
    "algorithm.epsilon_end": (0.005, 0.01, 0.02),
    "algorithm.epsilon_decay": (0.1, 0.2, 0.5),
    "algorithm.epochs": (1, 2, 4),
    "algorithm.learning_rate": (2e-4, 3e-4),
    "algorithm.learning_rate_decay": (True, False),
    "algorithm.gamma": (0.99, 0.995, 0.999),
    "algorithm.minibatch_size": (16, 32, 64, 128, 256, 512),
}
