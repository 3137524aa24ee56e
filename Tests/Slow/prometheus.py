#!/usr/bin/env python3
"""Checks /metrics and the dashboard with Prometheus itself: promtool finds nothing, and every query of
Samples/live/grafana-dashboard.json answers with numbers while two sessions run with a turn. About 20 seconds.
"""
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Benchmarks"))

from live_service import running  # noqa: E402

DASHBOARD = os.path.join(running.ROOT, "Samples/live/grafana-dashboard.json")
NAMES = ("cam-1", "cam-2")


class Prometheus:
    """Prometheus on loopback, which scrapes a service once a second, until the `with` block ends."""

    def __init__(self, folder, service):
        self.port = running.free_port()
        config = os.path.join(folder, "prometheus.yml")
        token = os.path.join(folder, "token")
        with open(token, "w") as file:
            file.write(running.TOKEN)
        with open(config, "w") as file:
            json.dump({
                "global": {"scrape_interval": "1s"},
                "scrape_configs": [{
                    "job_name": "upright",
                    "authorization": {"credentials_file": token},
                    "static_configs": [{"targets": [f"127.0.0.1:{service.http}"]}]}]}, file)
        self.log = open(os.path.join(folder, "prometheus.log"), "wb")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--web.listen-address=127.0.0.1:{self.port}",
             f"--storage.tsdb.path={folder}/series", "--log.level=warn"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def get(self, path, **query):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]

    def query(self, text):
        """Returns the values of an instant query, by label set."""
        return {json.dumps(each["metric"], sort_keys=True): float(each["value"][1])
                for each in self.get("query", query=text)["result"]}

    def scrapes(self):
        """Returns the number of successful scrapes in the last minute."""
        try:
            return sum(self.query('sum_over_time(up{job="upright"}[1m])').values())
        except OSError:
            return 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)
        self.log.close()


def check_page(service):
    """Returns what promtool finds in the metrics."""
    page = service.get("/metrics")[1]
    check = subprocess.run(
        ["promtool", "check", "metrics"], input=page, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=60)
    if check.returncode == 0 and not check.stdout:
        return []
    return [f"promtool: {check.returncode} {check.stdout.decode()}"]


def check_dashboard(prometheus):
    """Returns the queries of the dashboard that don't answer with numbers."""
    with open(DASHBOARD) as file:
        dashboard = json.load(file)
    faults = []
    expressions = [(panel["title"], target["expr"])
                   for panel in dashboard["panels"] for target in panel["targets"]]
    for title, expression in expressions:
        text = (expression.replace("$__rate_interval", "10s").replace("$job", "upright")
                .replace("$session", ".*"))
        values = prometheus.query(text)
        if not values or not all(map(math.isfinite, values.values())):
            faults.append(f"{title}: {text}: {values}")
    for variable in dashboard["templating"]["list"]:
        if variable["type"] != "query":
            continue
        series, _, label = variable["query"][len("label_values("):-1].rpartition(", ")
        values = prometheus.get(f"label/{label}/values", **{
            "match[]": series.replace("$job", "upright")})
        wanted = {"job": ["upright"], "session": list(NAMES)}[variable["name"]]
        if values != wanted:
            faults.append(f"the variable {variable['name']} has the values {values}")
    print(f"prometheus: {len(expressions)} queries of {len(dashboard['panels'])} panels")
    return faults


def main():
    faults = []
    with tempfile.TemporaryDirectory() as folder, running.Service(folder) as service, \
            Prometheus(folder, service) as prometheus:
        faults += check_page(service)
        clip = running.clip(folder, 20, size="320x180", keyframes=1)
        publishers = []
        for name in NAMES:
            service.session(
                name, [{"type": "hls"}, {"type": "file", "name": "take.mp4"}],
                options={"size": "320x180", "speed": "ultrafast"})
            publishers.append(running.Publisher(clip, service.address(name), loops=-1))
        try:
            def are_live():
                return all(service.state(name)["state"] == "live" for name in NAMES)
            if not running.until(are_live, 30) or not running.until(
                    lambda: prometheus.scrapes() >= 3, 30):
                raise SystemExit("prometheus: nothing to show: " + service.logged())
            for name in NAMES:
                service.event(name, {"device": "landscapeLeft"})
            time.sleep(5)
            faults += check_page(service)
            faults += check_dashboard(prometheus)
            # A session that is forgotten has no series any more, and the totals don't fall.
            service.delete(NAMES[0])
            service.ask("DELETE", f"/v1/sessions/{NAMES[0]}")
            left = f'upright_session_state{{session="{NAMES[0]}"}}'
            if not running.until(lambda: not prometheus.query(left), 10):
                faults.append("the series of a forgotten session go on")
            time.sleep(2)
            for text in ("upright_frames_in_total", "upright_output_bytes_total",
                         "upright_encode_seconds_count"):
                if sum(prometheus.query(f"resets({text}[1m])").values()) != 0:
                    faults.append(f"{text} has fallen")
            if sum(prometheus.query('min_over_time(up{job="upright"}[10s])').values()) != 1:
                faults.append("a scrape has failed")
        finally:
            for publisher in publishers:
                publisher.kill()
    running.conclude("prometheus", faults)


if __name__ == "__main__":
    main()
