"""What owners do beside talking: look back, keep pages and files, answer, take memory along."""
