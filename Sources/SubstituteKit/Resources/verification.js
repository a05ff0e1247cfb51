for (const input of document.querySelectorAll(".compare input"))
  input.addEventListener("input", () => input.parentElement.style.setProperty("--at", input.value + "%"));
