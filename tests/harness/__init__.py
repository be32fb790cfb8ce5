"""What the browser tests stand on: a private Jupyter server, a browser, a page of JupyterLab."""
