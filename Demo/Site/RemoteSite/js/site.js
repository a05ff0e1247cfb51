document.querySelector("#script").textContent = "The script of this page came from the network.";
