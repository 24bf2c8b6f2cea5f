class SummaryWriter:
    """Keeps events until the run is closed."""

    def __init__(self, log_dir):
        self.log_dir = log_dir
        self._events = {"scalars": [], "histograms": []}

    def add_scalar(self, tag, value, step):
        self._events["scalars"].append((tag, value, step))

    def add_histogram(self, tag, values, step):
        self._events["histograms"].append((tag, values, step))

    def close(self):
        for tag, values, step in self._events["histograms"]:
            print(tag, step, values.float().histc(10).tolist())
