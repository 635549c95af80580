"""What an app is, who may use it how, and what it is made of: decided from values alone."""
